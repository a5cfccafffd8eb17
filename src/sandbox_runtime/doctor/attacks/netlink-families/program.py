import probe

NETLINK, RAW, ROUTE = 16, 3, 0
number = probe.facts()["calls"]["socket"]
for protocol in range(1, 24):
    if probe.call_number(number, NETLINK, RAW, protocol) >= 0:
        probe.escaped(f"netlink protocol {protocol} is open")
probe.held("none but routing")
