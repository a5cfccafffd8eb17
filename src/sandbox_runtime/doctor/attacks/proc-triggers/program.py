import os

import probe

PLACES = ("sysrq-trigger", "irq/default_smp_affinity", "mtrr", "timer_list", "sched_debug", "latency_stats", "scsi/scsi")
for place in PLACES:
    path = f"/proc/{place}"
    if os.path.lexists(path) and not os.path.isdir(path):
        probe.must_fail(f"{path} can be written", os.open, path, os.O_WRONLY)
probe.held("none of them can be written")
