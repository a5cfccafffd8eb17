import target

BEGIN = """
import random, secrets, uuid, os
random.seed(1)
try:
    from numpy import random as numbers
except ImportError:
    numbers = random
numbers.seed(1)
"""
DRAW = "print(random.random(), numbers.random(), secrets.token_hex(8), uuid.uuid4(), os.urandom(8).hex())"


def attack(server):
    session = server.session()
    context = server.context(session)
    server.cell(context, BEGIN)
    forks = [inside for _, inside in server.fork(session, 2)]
    drawn = [server.cell(where, DRAW)["stdout"].split() for where in (context, *forks)]
    for names in zip(*drawn, strict=True):
        server.must(len(set(names)) == len(names), f"two of them drew the same: {names}")
    return "origin and forks drew different numbers"


target.run(attack)
