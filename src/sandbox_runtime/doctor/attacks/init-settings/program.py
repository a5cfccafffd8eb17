import os
import struct

import probe

probe.must_fail("init's chance to be killed was set", os.open, "/proc/1/oom_score_adj", os.O_WRONLY)
probe.must_be_refused(
    [
        ("prlimit64", 1, 7, struct.pack("QQ", 16, 16), 0),
        ("setpriority", 0, 1, 19),
        ("sched_setaffinity", 1, 8, struct.pack("Q", 1)),
        ("sched_setscheduler", 1, 5, struct.pack("i", 0)),
        ("ioprio_set", 1, 1, (3 << 13)),
    ]
)
