import probe

known = probe.facts()
probe.need_network()
for address in known["private"]:
    if probe.answers(address, known["port"]):
        probe.escaped(f"{address}, in a private network, answered")
probe.held("nobody answers")
