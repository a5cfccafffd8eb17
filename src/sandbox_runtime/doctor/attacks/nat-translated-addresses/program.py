import probe

known = probe.facts()
probe.need_network()
for address in (*known["translated"], "::ffff:10.9.9.9", "::ffff:169.254.169.254", "0x0a090909", "167774473"):
    if probe.answers(address, known["port"]):
        probe.escaped(f"{address}, a private address in another form, answered")
probe.held("nobody answers")
