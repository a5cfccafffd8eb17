import contextlib
import socket

import probe

most = 2 * probe.facts()["limits"]["memory_bytes"]
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ends = []
for _ in range(900):
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 30)
    end.bind(("127.0.0.1", 0))
    end.setblocking(False)
    ends.append(end)
    with contextlib.suppress(OSError):
        for _ in range(16):
            sender.sendto(bytes([1]) * 16384, end.getsockname())
waiting = 0
for end in ends:
    with contextlib.suppress(OSError):
        while True:
            waiting += len(end.recv(65536))
probe.escaped(f"{waiting} bytes waited in sockets") if waiting > most else probe.held(f"{waiting} bytes is all that sockets take")
