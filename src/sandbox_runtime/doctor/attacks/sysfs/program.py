import os

import probe

KINDS = {"sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "bpf", "pstore", "configfs", "fusectl", "efivarfs"}
with open("/proc/self/mounts", encoding="utf-8") as table:
    seen = KINDS & {line.split()[2] for line in table}
if seen or (os.path.isdir("/sys") and os.listdir("/sys")):
    probe.escaped(f"in sight: {' '.join(sorted(seen)) or '/sys'}")
probe.held("none is in sight")
