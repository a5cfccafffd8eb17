import probe

known = probe.facts()
probe.need_network()
if probe.answers(known["first"], known["port"]) or probe.answers_datagram(known["first"], known["port"]):
    probe.escaped(f"the neighbour at {known['first']} answered")
probe.held(f"the neighbour at {known['first']} does not answer")
