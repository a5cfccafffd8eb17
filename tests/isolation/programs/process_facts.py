#: {"argv": ["x"], "env": {"GIVEN": "by the caller"}}
import os
import signal
import sys
from pathlib import Path

print(dict(sorted(os.environ.items())))
print(Path("/proc/self/cmdline").read_bytes().rstrip(b"\0").decode().split("\0"))
print(sorted(os.listdir("/proc/self/fd"), key=int))
print(os.getpid() == os.getsid(0) == os.getpgid(0), os.getppid(), os.getuid(), os.getgid(), os.getgroups())
previous = os.umask(0o077)
print(oct(previous), os.nice(0), os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0))
for number in sorted(signal.valid_signals()):
    print(int(number), signal.getsignal(number), end="; ")
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL))
KEPT = ("Umask", "Threads", "SigBlk", "SigIgn", "SigCgt", "CapEff", "NoNewPrivs", "Seccomp")
status = Path("/proc/self/status").read_text().splitlines()
print([line for line in status if line.split(":")[0] in KEPT])
print(Path("/proc/self/comm").read_text().startswith("python"), len(sys.argv))
