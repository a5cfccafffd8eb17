import os
import struct

import probe

EOPNOTSUPP = 95
handle = struct.pack("Ii", 128, 0) + bytes(128)
root = os.open("/", os.O_RDONLY)
probe.must_be_refused(
    [
        ("fanotify_init", 0x200, 0),
        ("open_by_handle_at", root, struct.pack("IiQ", 8, 1, 2), 0),
        ("name_to_handle_at", -100, b"/tmp", handle, bytes(8), 0),
    ],
    refusals=(*probe.REFUSALS, EOPNOTSUPP),
)
