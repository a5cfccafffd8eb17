import probe

X32 = 0x40000000
calls = probe.facts()["calls"]
numbers = [X32 | calls["getpid"], X32 | calls["unshare"], X32 | 512, X32 | 521, 0x7FFFFFFF, 100_000]
for number in numbers:
    result = probe.call_number(number, 0, 0, 0, 0, 0)
    if result >= 0:
        probe.escaped(f"call {number:#x} was answered")
probe.held("none is answered")
