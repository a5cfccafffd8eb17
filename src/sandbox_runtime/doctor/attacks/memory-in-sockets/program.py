import socket

import probe

most = 2 * probe.facts()["limits"]["memory_bytes"]
server = socket.create_server(("127.0.0.1", 0), backlog=256)
waiting, ends = 0, []
piece = bytes([1]) * 65536
for _ in range(200):
    end = socket.create_connection(server.getsockname())
    ends += [end, server.accept()[0]]
    end.setblocking(False)
    try:
        while True:
            waiting += end.send(piece)
    except OSError:
        pass
    if waiting > most:
        probe.escaped(f"{waiting} bytes wait in connections")
probe.held(f"{waiting} bytes is all that connections take")
