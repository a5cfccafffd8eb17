import probe

known = probe.facts()
probe.need_network()
for address in known["host"]:
    if probe.answers(address, known["dns_port"]) or probe.answers_datagram(address, known["dns_port"]):
        probe.escaped(f"port 53 of {address} answered")
probe.held("no resolver of the host answers")
