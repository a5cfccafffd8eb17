import probe

known = probe.facts()
probe.need_network()
for address in known["metadata"]:
    if probe.answers(address, known["port"]):
        probe.escaped(f"{address}, a metadata service, answered")
probe.held("nobody answers")
