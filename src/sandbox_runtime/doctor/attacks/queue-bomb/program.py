import os
import struct

import probe

ROOM_BYTES = 10 * 8192
room = struct.pack("8q", 0, 10, 8192, 0, 0, 0, 0, 0)
for count in range(40):
    result = probe.call("mq_open", f"queue{count}".encode(), os.O_RDWR | os.O_CREAT, 0o600, room)
    if result < 0:
        probe.held(f"{count * ROOM_BYTES} bytes, then {probe.result_text(result)}")
probe.escaped(f"{40 * ROOM_BYTES} bytes of queues")
