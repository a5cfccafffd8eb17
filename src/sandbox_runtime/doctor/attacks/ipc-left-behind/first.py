import os

import probe

made = [probe.call("shmget", 0x5AFD, 4096, 0o1666), probe.call("mq_open", b"left-behind", os.O_RDWR | os.O_CREAT, 0o666, None)]
probe.ready(" ".join(map(str, made)))
