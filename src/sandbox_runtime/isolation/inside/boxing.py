"""Taking on the layers of a box, in order, by the process that will be its init. Jail first, interpreter second."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

from sandbox_runtime.isolation.inside.setup import Setup
from sandbox_runtime.isolation.kernel import capabilities, mounts, namespaces, network

SCRATCH = "/.box"
SHARED_SCRATCH = "/.shared"
SPAWNER_PROC = "/.proc"
"""The spawner's view of its own pid namespace. In a user namespace the kernel lets proc be mounted only where one is in sight; a
box mounts its own, then drops this one."""
HOST_NAME = "sandbox"


def enclose(setup: Setup, wait_for_network: Callable[[], str]) -> int:
    """Namespaces and mounts. Returns a descriptor of the box's writable area."""
    namespaces.leave(_namespace_flags(setup))
    if setup.has("uts"):
        socket.sethostname(HOST_NAME)
    mounts.mount_proc("/proc")
    mounts.mask_proc("/proc")
    mounts.unmount(SPAWNER_PROC)
    files = _mount_files(setup)
    for hidden, place in setup.late:
        os.makedirs(place, exist_ok=True)
        mounts.mount(hidden, place, None, mounts.BIND | mounts.RECURSIVE)
    if setup.has("devices"):
        mounts.mount_terminals("/dev/pts")
    if setup.has("network"):
        network.bring_loopback_up()
    if setup.network == "nat":
        _show_resolver(wait_for_network())
    os.chdir(setup.workdir)
    return files


def _namespace_flags(setup: Setup) -> int:
    """The mount namespace is always made: without the mount layer its writable folders are shared ones instead of its own."""
    layers = [name for name in ("network", "ipc", "uts", "cgroup_view") if setup.has(name)]
    return namespaces.NEW_MOUNT | sum(namespaces.FLAG_OF_LAYER[name] for name in layers)


def _mount_files(setup: Setup) -> int:
    uid = gid = os.geteuid() if setup.uid is None else setup.uid
    if setup.has("mount"):
        bounded = setup.has("disk")
        mounts.mount_scratch(SCRATCH, setup.disk_bytes if bounded else None, setup.disk_files if bounded else None)
        mounts.spread_scratch(SCRATCH, setup.writable, uid, gid)
        return _open_and_hide(SCRATCH)
    for target, name in setup.writable.items():
        mounts.mount(f"{SHARED_SCRATCH}/{name}", target, None, mounts.BIND)
    return _open_and_hide(SHARED_SCRATCH)


def _open_and_hide(place: str) -> int:
    """The area stays reachable through its bind mounts and this descriptor; the folder that showed it whole is gone."""
    files = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    mounts.unmount(place)
    return files


def _show_resolver(text: str) -> None:
    path = "/tmp/.resolv.conf"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    mounts.mount(path, "/etc/resolv.conf", None, mounts.BIND)
    mounts.mount("none", "/etc/resolv.conf", None, mounts.REMOUNT | mounts.BIND | mounts.READ_ONLY | mounts.NO_SUID | mounts.NO_DEV)
    os.unlink(path)


def give_up_rights(setup: Setup) -> None:
    """User, capabilities, no new privileges. Afterwards the caller cannot be looked into by the guest."""
    if setup.uid is not None:
        os.setgroups([])
        os.setresgid(setup.uid, setup.uid, setup.uid)
        os.setresuid(setup.uid, setup.uid, setup.uid)
    if setup.own_user and setup.has("user"):
        _enter_own_user_namespace(setup)
    if setup.drop_capabilities and setup.has("capabilities"):
        capabilities.drop_all()
    if setup.has("privileges"):
        capabilities.forbid_new_privileges()
    capabilities.set_dumpable(False)


def _enter_own_user_namespace(setup: Setup) -> None:
    """Its namespaces belong to the parent user namespace, so not even root in here would have rights over them. A process
    that changed its user is not dumpable and does not own its files in /proc; that is lifted for the moment of mapping."""
    uid, gid = os.geteuid(), os.getegid()
    capabilities.set_dumpable(True)
    namespaces.leave(namespaces.NEW_USER)
    namespaces.map_single_user(setup.inside_uid, uid, gid)
