import contextlib

import target

CONNECTIONS = 150


def attack(server):
    with contextlib.ExitStack() as opened:
        refused = 0
        for _ in range(CONNECTIONS):
            try:
                opened.enter_context(server.connect())
            except OSError:
                refused += 1
        try:
            wait_s = server.ping_s()
        except OSError as error:
            # A bound on the connections of one address refuses us too; others are served.
            server.must(refused == 0, f"the server does not answer: {error}")
            return "further connections of this address are refused"
        server.must(wait_s < 5.0, f"a ping took {wait_s:.1f} s beside {CONNECTIONS} silent connections")
    return f"a ping took {wait_s * 1000:.0f} ms beside {CONNECTIONS} silent connections"


target.run(attack)
