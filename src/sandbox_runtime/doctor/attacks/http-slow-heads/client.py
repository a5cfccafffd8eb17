import contextlib
import select
import time

import target

CONNECTIONS = 40
LONGEST_S = 40.0


def attack(server):
    with contextlib.ExitStack() as opened:
        held = []
        for number in range(CONNECTIONS):
            sock = opened.enter_context(server.connect())
            sock.sendall(b"GET /v1/ping HTTP/1.1\r\nHost: x\r\n" if number % 2 else b"")
            held.append(sock)
        server.must(server.ping_s() < 5.0, "other clients had to wait")
        waiting, began = list(held), time.monotonic()
        while waiting and time.monotonic() < began + LONGEST_S:
            for sock in select.select(waiting, [], [], 1.0)[0]:
                with contextlib.suppress(OSError):
                    if sock.recv(65536):
                        continue
                waiting.remove(sock)
    server.must(not waiting, f"{len(waiting)} connections without a request were still open after {LONGEST_S:g} s")
    return f"{CONNECTIONS} connections without a request were closed after {time.monotonic() - began:.0f} s"


target.run(attack)
