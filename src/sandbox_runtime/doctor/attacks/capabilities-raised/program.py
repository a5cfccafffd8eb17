import struct

import probe

CAP_SYS_ADMIN = 21
header = struct.pack("Ii", 0x20080522, 0)
every = struct.pack("6I", *[0xFFFFFFFF] * 6)
probe.must_be_refused(
    [
        ("capset", header, every),
        ("prctl", 47, 2, CAP_SYS_ADMIN, 0, 0),
        (
            "setxattr",
            b"/proc/self/exe",
            b"security.capability",
            struct.pack("<5I", 0x02000001, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0),
            20,
            0,
        ),
    ],
    refusals=(1, 13, 30, 38, 95),
)
