import ctypes

import probe

number = probe.facts()["calls"]["timer_create"]
timer = ctypes.create_string_buffer(8)
for count in range(3000):
    result = probe.call_number(number, 1, None, ctypes.addressof(timer))
    if result < 0:
        probe.held(f"{count} timers, then {probe.result_text(result)}")
probe.escaped("3000 timers")
