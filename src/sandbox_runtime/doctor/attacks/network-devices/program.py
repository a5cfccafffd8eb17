import socket

import probe

names = [name for _, name in socket.if_nameindex()]
with open("/proc/net/route", encoding="utf-8") as table:
    routes = table.read().splitlines()[1:]
if names != ["lo"] or routes:
    probe.escaped(f"devices {names}, {len(routes)} routes")
probe.held("loopback alone")
