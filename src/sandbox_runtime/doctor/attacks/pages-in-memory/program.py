import os
import struct

import probe

file = os.open("/usr/bin/env", os.O_RDONLY)
probe.must_be_refused(
    [
        ("cachestat", file, struct.pack("QQ", 0, 4096), bytes(64), 0),
        ("move_pages", 0, 0, None, None, None, 0),
        ("migrate_pages", 0, 64, bytes(8), bytes(8)),
    ]
)
