"""Create and enter namespaces, and map a single user."""

from __future__ import annotations

import os

from sandbox_runtime.isolation.kernel import libc

NEW_MOUNT = 0x00020000
NEW_CGROUP = 0x02000000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PID = 0x20000000
NEW_NET = 0x40000000

_unshare = libc.Function("unshare", libc.INT)
_setns = libc.Function("setns", libc.INT, libc.INT)

FLAG_OF_LAYER = {
    "pid": NEW_PID,
    "mount": NEW_MOUNT,
    "network": NEW_NET,
    "ipc": NEW_IPC,
    "uts": NEW_UTS,
    "cgroup_view": NEW_CGROUP,
    "user": NEW_USER,
}


USER_NAMESPACE_HINT = (
    "a plain user needs user namespaces: set `sysctl user.max_user_namespaces` above 0 and, where they exist, "
    "kernel.unprivileged_userns_clone 1 and kernel.apparmor_restrict_unprivileged_userns 0; or run the server as root"
)


def unshare(flags: int) -> None:
    """Move the caller (for NEW_PID: its next child) into new namespaces."""
    _unshare(flags)


def setns(descriptor: int, flag: int) -> None:
    _setns(descriptor, flag)


def map_single_user(inside: int, outside_uid: int, outside_gid: int) -> None:
    """After unshare(NEW_USER): map the caller's own user and group to `inside`; no other user exists.

    setgroups must be denied first; the kernel requires it if the writer has no capabilities in the parent namespace.
    """
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{inside} {outside_uid} 1")
    _write("/proc/self/gid_map", f"{inside} {outside_gid} 1")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
