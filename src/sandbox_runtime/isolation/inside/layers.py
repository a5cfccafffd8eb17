"""Apply the layers of a box in order, in the process that becomes its init or runner."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

from sandbox_runtime.isolation.inside.setup import Setup
from sandbox_runtime.isolation.kernel import capabilities, mounts, namespaces, network

ROOT = "/.root"
SCRATCH = "/.box"
SHARED_SCRATCH = "/.shared"
SPAWNER_PROC = "/.proc"
"""The spawner's proc of its own pid namespace. In a user namespace the kernel allows mounting proc only if one is visible."""
CODE_INSIDE = "/.code"
"""Where bubblewrap mounts our own code."""
HOST_NAME = "sandbox"


def enter_new_root(setup: Setup, wait_for_network: Callable[[], str]) -> int:
    """Enter new namespaces and mount the root of the box, all but the cgroup namespace. Returns a descriptor of the writable
    area."""
    namespaces.unshare(_namespace_flags(setup))
    if setup.has("uts"):
        socket.sethostname(HOST_NAME)
    if setup.has("network"):
        network.bring_loopback_up()
    resolver = wait_for_network() if setup.network == "nat" else None
    files = _build_root(setup, resolver)
    mounts.pivot(ROOT)
    os.chdir(setup.workdir)
    return files


def hide_cgroups(setup: Setup) -> None:
    """Enter a cgroup namespace: the caller's cgroups then look like the roots of their hierarchies."""
    if setup.has("cgroup_view"):
        namespaces.unshare(namespaces.NEW_CGROUP)


def complete_bubblewrap_root(setup: Setup, wait_for_network: Callable[[], str]) -> int:
    """In namespaces that bubblewrap created: do what bwrap cannot. Otherwise like enter_new_root."""
    resolver = wait_for_network() if setup.network == "nat" else None
    files = _mount_area_under_trees(setup)
    if resolver is not None:
        _mount_resolv_conf(resolver, "")
    if setup.uid is None:
        mounts.hide_init("/proc")
    mounts.mask_proc("/proc", "/dev/null")
    mounts.unmount(CODE_INSIDE)
    if setup.has("devices"):
        mounts.make_read_only("/dev")
    os.chdir(setup.workdir)
    return files


def _namespace_flags(setup: Setup) -> int:
    """A mount namespace is always created. Without the mount layer, its writable folders are shared with other boxes."""
    layers = [name for name in ("network", "ipc", "uts") if setup.has(name)]
    return namespaces.NEW_MOUNT | sum(namespaces.FLAG_OF_LAYER[name] for name in layers)


def _build_root(setup: Setup, resolver: str | None) -> int:
    """Build the box's root next to the spawner's: shared trees as overlays, then what belongs to this box alone. Writable
    folders are mounted before trees, because a tree may be inside one of them."""
    show = mounts.overlay if setup.has("mount") else _bind
    show("/", ROOT)
    files = _mount_writable_area(setup, ROOT)
    for tree in (*setup.trees, *setup.extra_trees):
        if not os.path.isdir(ROOT + tree):
            os.makedirs(ROOT + tree)
        show(tree, ROOT + tree)
    _mount_devices(setup)
    mounts.mount_proc(f"{ROOT}/proc")
    mounts.mask_proc(f"{ROOT}/proc", f"{ROOT}/dev/null")
    if resolver is not None:
        _mount_resolv_conf(resolver, ROOT)
    return files


def _bind(source: str, target: str) -> None:
    mounts.mount(source, target, None, mounts.BIND)


def _mount_writable_area(setup: Setup, root: str) -> int:
    if setup.has("mount"):
        if not setup.shared_files:
            _make_writable_area(setup)
        mounts.bind_scratch(SCRATCH, setup.writable, root)
        return _open_folder(SCRATCH)
    for target, name in setup.writable.items():
        _bind(f"{SHARED_SCRATCH}/{name}", root + target)
    return _open_folder(SHARED_SCRATCH)


def _make_writable_area(setup: Setup) -> None:
    uid = os.geteuid() if setup.uid is None else setup.uid
    bounded = setup.has("disk")
    mounts.mount_scratch(SCRATCH, setup.disk_bytes if bounded else None, setup.disk_files if bounded else None)
    mounts.make_folders(SCRATCH, setup.writable, uid, uid, setup.home)


def _mount_area_under_trees(setup: Setup) -> int:
    """Mount the writable area and show each tree again through an overlay. A tree inside a writable folder is hidden by then,
    so descriptors are opened first."""
    show = mounts.overlay if setup.has("mount") else _bind
    trees = [(tree, os.open(tree, os.O_PATH | os.O_CLOEXEC)) for tree in setup.trees]
    files = _mount_writable_area(setup, "")
    for tree, descriptor in trees:
        if not os.path.isdir(tree):
            os.makedirs(tree)
        show(f"/proc/self/fd/{descriptor}", tree)
        os.close(descriptor)
    return files


def _open_folder(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _mount_devices(setup: Setup) -> None:
    if not setup.has("devices"):
        mounts.mount("/dev", f"{ROOT}/dev", None, mounts.BIND | mounts.RECURSIVE)
        return
    if setup.uid is None:
        for name in (*mounts.NODES, *setup.gpu):
            _bind(f"/dev/{name}", f"{ROOT}/dev/{name}")
    mounts.mount_terminals(f"{ROOT}/dev/pts")


def _mount_resolv_conf(text: str, root: str) -> None:
    """Mount resolv.conf from the box's own area. Changing it harms only the guest."""
    path = f"{SCRATCH}/resolv.conf"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    _bind(path, f"{root}/etc/resolv.conf")


def drop_privileges(setup: Setup) -> None:
    """Set the user, drop capabilities and forbid new privileges. Afterwards the guest cannot inspect the caller."""
    if setup.uid is not None:
        if setup.has("capabilities") and not setup.has("user"):
            capabilities.empty_bounding_set()  # without a user namespace this cannot be done later
        os.setgroups([])
        os.setresgid(setup.uid, setup.uid, setup.uid)
        os.setresuid(setup.uid, setup.uid, setup.uid)
    if setup.has("user"):
        _enter_own_user_namespace(setup)
    if setup.has("capabilities"):
        capabilities.drop_all()
    if setup.has("privileges"):
        capabilities.forbid_new_privileges()
    capabilities.set_dumpable(False)


def _enter_own_user_namespace(setup: Setup) -> None:
    """Enter a user namespace of the box.

    The other namespaces belong to the parent user namespace, so not even root inside this one has rights over them. A process
    that changed its user is not dumpable and does not own its files in /proc, so it is made dumpable while the map is written.
    """
    uid, gid = os.geteuid(), os.getegid()
    capabilities.set_dumpable(True)
    namespaces.unshare(namespaces.NEW_USER)
    namespaces.map_single_user(setup.inside_uid, uid, gid)
