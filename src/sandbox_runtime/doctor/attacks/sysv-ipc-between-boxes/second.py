import probe

KEY = 0x5AFE
if int(probe.facts()["first"].split()[0]) < 0:
    raise SystemExit("the other box could not make any")
found = [("shmget", KEY, 4096, 0o666), ("msgget", KEY, 0o666), ("semget", KEY, 1, 0o666)]
for name, *arguments in found:
    if probe.call(name, *arguments) >= 0:
        probe.escaped(f"{name} found what the other box made")
probe.held("what the other box made is not here")
