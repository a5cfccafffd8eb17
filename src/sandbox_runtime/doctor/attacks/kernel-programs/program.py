import struct

import probe

software_clock = struct.pack("IIQQQQ", 1, 112, 0, 0, 0, 0) + bytes(80)
probe.must_be_refused(
    [
        ("bpf", 5, bytes(128), 128),
        ("bpf", 0, struct.pack("IIII", 2, 4, 4, 1) + bytes(112), 128),
        ("perf_event_open", software_clock, 0, -1, -1, 0),
        ("userfaultfd", 1),
    ]
)
