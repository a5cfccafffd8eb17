import probe

sets = {name: int(probe.status(name), 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
full = [name for name, value in sets.items() if value]
probe.escaped(f"capabilities in {' '.join(full)}") if full else probe.held("all five sets are empty")
