import struct

import probe

# Nanoseconds beyond a second: let through, it would be an error.
never = struct.pack("qq", 0, 2_000_000_000)
probe.must_be_refused(
    [
        ("clock_settime", 0, never),
        ("settimeofday", struct.pack("qq", 0, 2_000_000), None),
        ("adjtimex", struct.pack("I", 0x2) + bytes(256)),
        ("clock_adjtime", 0, struct.pack("I", 0x2) + bytes(256)),
    ]
)
