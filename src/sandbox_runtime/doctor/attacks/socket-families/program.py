import probe

UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
STREAM, DGRAM, RAW, SEQPACKET = 1, 2, 3, 5
number = probe.facts()["calls"]["socket"]
for family in range(48):
    if family in (UNIX, INET, INET6, NETLINK):
        continue
    for kind in (STREAM, DGRAM, RAW, SEQPACKET):
        if probe.call_number(number, family, kind, 0) >= 0:
            probe.escaped(f"a socket of family {family} and kind {kind}")
probe.held("none but unix, internet and routing")
