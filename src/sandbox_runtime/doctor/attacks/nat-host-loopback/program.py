import socket
import struct

import probe

known = probe.facts()
probe.need_network()
with open("/proc/net/route", encoding="ascii") as table:
    rows = [line.split() for line in table][1:]
gateways = [socket.inet_ntoa(struct.pack("<I", int(row[2], 16))) for row in rows if row[2] != "00000000"]
if not gateways:
    raise SystemExit("there is no gateway")
for address in (*gateways, "127.0.0.1", "127.1.2.3", "0.0.0.0", "::1", "::ffff:127.0.0.1"):
    if probe.answers(address, known["port"]):
        probe.escaped(f"{address} answered for the host")
probe.held("nobody answers")
