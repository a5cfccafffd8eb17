import time

import probe


def init_cpu_s() -> float:
    with open("/proc/1/stat", encoding="ascii") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / 100


number = probe.facts()["calls"]["keyctl"]
before, end = init_cpu_s(), time.monotonic() + 0.8
count = 0
while time.monotonic() < end:
    for _ in range(100):
        probe.call_number(number, 0, 0, 0, 0, 0)
    count += 100
used = init_cpu_s() - before
told = f"{count} calls cost init {used:.2f} s of cpu"
probe.escaped(told) if used > 0.2 else probe.held(told)
