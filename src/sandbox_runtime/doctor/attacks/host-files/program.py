import os

import probe

PRIVATE = (
    "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/machine-id", "/etc/fstab", "/etc/ssh", "/etc/systemd",
    "/boot", "/root", "/var/log", "/var/spool", "/var/cache", "/run/systemd", "/run/docker.sock", "/run/dbus", "/sys/kernel",
    "/.dockerenv", "/run/secrets",
)  # fmt: skip
for path in (probe.facts()["secret_file"], *PRIVATE):
    if os.path.lexists(path):
        probe.escaped(f"{path} of the host is in sight")
probe.held("nothing private is in sight")
