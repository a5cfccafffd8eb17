import socket

import probe

for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    try:
        socket.socket(socket.AF_UNIX, kind).connect("\0" + probe.facts()["abstract"])
    except OSError:
        continue
    probe.escaped("a socket of the host answered")
with open("/proc/net/unix", encoding="utf-8") as table:
    if probe.facts()["abstract"] in table.read():
        probe.escaped("sockets of the host can be listed")
probe.held("nobody answers")
