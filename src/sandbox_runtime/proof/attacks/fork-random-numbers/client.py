import target

DRAW = "print(random.random(), random.getrandbits(64), secrets.token_hex(8), uuid.uuid4(), os.urandom(8).hex())"


def attack(server):
    session = server.session()
    context = server.context(session)
    server.cell(context, "import random, secrets, uuid, os; random.seed(1)")
    forks = [inside for _, inside in server.fork(session, 2)]
    drawn = [server.cell(where, DRAW)["stdout"].split() for where in (context, *forks)]
    for names in zip(*drawn, strict=True):
        server.must(len(set(names)) == len(names), f"two of them drew the same: {names}")
    return "origin and forks drew different numbers"


target.run(attack)
