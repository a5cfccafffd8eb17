import probe

known = probe.facts()
probe.need_network()
text = ""
for name in ("arp", "route", "ipv6_route", "if_inet6", "fib_trie", "udp", "tcp", "tcp6", "unix", "netfilter"):
    try:
        with open(f"/proc/net/{name}", encoding="ascii", errors="replace") as file:
            text += file.read()
    except OSError:
        continue
for address in (*known["host"][:2], known["gateway"], "10.50.0.1", "10.50.0.2"):
    if address in text:
        probe.escaped(f"{address} stands in the tables of the box")
probe.held("the tables show the box's own link alone")
