import os

import probe

own = os.getpid()
for policy in (os.SCHED_FIFO, os.SCHED_RR):
    probe.must_fail("real-time priority", os.sched_setscheduler, own, policy, os.sched_param(1))
probe.must_fail("a better nice value", os.setpriority, os.PRIO_PROCESS, own, -5)
if probe.call("ioprio_set", 1, own, 1 << 13) >= 0:
    probe.escaped("real-time disk access")
with open("/proc/self/oom_score_adj", encoding="ascii") as file:
    before = int(file.read())
try:
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write(str(before - 1))
except OSError:
    probe.held("none of them is given")
probe.escaped("others are killed for memory before it")
