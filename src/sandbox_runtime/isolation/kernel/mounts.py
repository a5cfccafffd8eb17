"""Mounts: the read-only root that all boxes of a spawner share, and the writable folders of each box."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import struct
from collections.abc import Iterable, Mapping

from sandbox_runtime.isolation.kernel import libc

READ_ONLY = 1
NO_SUID = 2
NO_DEV = 4
NO_EXEC = 8
REMOUNT = 32
BIND = 4096
RECURSIVE = 16384
PRIVATE = 1 << 18
DETACH = 2

_MOUNT_SETATTR = 442
_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_ATTR_READ_ONLY = 1
_ATTR_NO_SUID = 2
_ATTR_NO_DEV = 4

_mount = libc.Function("mount", libc.TEXT, libc.TEXT, libc.TEXT, libc.ULONG, libc.TEXT)
_unmount = libc.Function("umount2", libc.TEXT, libc.INT)
_pivot_root = libc.Function("pivot_root", libc.TEXT, libc.TEXT)
_set_attr = libc.Function("syscall", libc.LONG, libc.LONG, libc.TEXT, libc.ULONG, libc.POINTER, libc.ULONG, what="mount_setattr")

NODES = {"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}
EMPTY = "/.empty"
MASKED = ("keys", "key-users")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    _mount(source.encode(), target.encode(), kind.encode() if kind else None, flags, options.encode() if options else None)


def unmount(target: str) -> None:
    _unmount(target.encode(), DETACH)


def make_private() -> None:
    """Stop mount events from propagating to or from other namespaces."""
    mount("none", "/", None, RECURSIVE | PRIVATE)


def bind(source: str, target: str, *, read_only: bool) -> None:
    mount(source, target, None, BIND | RECURSIVE)
    if read_only:
        _make_tree_read_only(target)


def _make_tree_read_only(target: str) -> None:
    """Make the mount and everything mounted below it read-only; a plain remount would leave lower mounts writable."""
    _set_attributes(target, _ATTR_READ_ONLY | _ATTR_NO_SUID | _ATTR_NO_DEV, _AT_RECURSIVE)


def make_read_only(target: str) -> None:
    _set_attributes(target, _ATTR_READ_ONLY, 0)


def _set_attributes(target: str, attributes: int, flags: int) -> None:
    """Add attributes. A remount would have to repeat flags that a user namespace may not clear."""
    change = struct.pack("QQQQ", attributes, 0, 0, 0)
    _set_attr(_MOUNT_SETATTR, _AT_FDCWD, target.encode(), flags, change, len(change))


def build_root(root: str, entries: Iterable[Mapping[str, str]], folders: Iterable[str]) -> None:
    """Build a tmpfs at `root` with what all boxes of a spawner may see.

    entries: each has a target and a kind: "tree" (source is mounted there read-only), "copy" (source is copied), "link" (source
        is the link's text) or "text".
    folders: empty folders on which each box mounts its own.
    """
    mount("tmpfs", root, "tmpfs", NO_SUID, "mode=0755,size=64m")
    mount("tmpfs", _ensure_folder(root + EMPTY), "tmpfs", NO_SUID | NO_DEV, "mode=0755,size=4k")
    for folder in folders:
        os.makedirs(root + folder, mode=0o755, exist_ok=True)
    for entry in entries:
        create_entry(root + entry["target"], entry)


def _ensure_folder(folder: str) -> str:
    os.makedirs(folder, mode=0o755, exist_ok=True)
    return folder


def create_entry(target: str, entry: Mapping[str, str]) -> None:
    """Create one rootfs entry at `target`."""
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    kind = entry["kind"]
    if kind == "link":
        os.symlink(entry["source"], target)
    elif kind == "text":
        _write_file(target, entry["text"])
    elif kind == "copy":
        _copy(entry["source"], target)
    else:
        os.makedirs(target, mode=0o755, exist_ok=True)
        bind(entry["source"], target, read_only=True)


def _copy(source: str, target: str) -> None:
    """Copy recursively; links stay links. Skips what the spawner may not read, which a guest should not see either, and
    everything that is not a regular file. Does not use shutil, because it imports compressors that every box would be forked
    with."""
    status = os.lstat(source)
    with contextlib.suppress(PermissionError):
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(source), target)
        elif stat.S_ISDIR(status.st_mode):
            names = os.listdir(source)
            os.mkdir(target)
            for name in names:
                _copy(f"{source}/{name}", f"{target}/{name}")
            _copy_metadata(target, status)
        elif stat.S_ISREG(status.st_mode):
            with open(source, "rb") as content, open(target, "wb") as file:
                file.write(content.read())
            _copy_metadata(target, status)


def _copy_metadata(target: str, status: os.stat_result) -> None:
    os.chmod(target, stat.S_IMODE(status.st_mode))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _write_file(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o644)


def create_devices(folder: str, others: Iterable[str], *, make_nodes: bool) -> None:
    """Create /dev.

    Nodes created here become each box's own through its overlay. A plain user cannot create nodes; boxes then bind those of the
    host.

    others: further devices of the host, by name below /dev.
    """
    nodes = {name: (0o666, os.makedev(1, number)) for name, number in NODES.items()}
    for name in others:
        host_device = os.stat(f"/dev/{name}")
        nodes[name] = (stat.S_IMODE(host_device.st_mode), host_device.st_rdev)
    for name, (mode, number) in nodes.items():
        os.makedirs(os.path.dirname(f"{folder}/{name}"), mode=0o755, exist_ok=True)
        if make_nodes:
            os.mknod(f"{folder}/{name}", mode | stat.S_IFCHR, number)
            os.chmod(f"{folder}/{name}", mode)
        else:
            _write_file(f"{folder}/{name}", "")
            mount(f"/dev/{name}", f"{folder}/{name}", None, BIND)
    for name, target in (
        ("fd", "/proc/self/fd"),
        ("stdin", "fd/0"),
        ("stdout", "fd/1"),
        ("stderr", "fd/2"),
        ("ptmx", "pts/ptmx"),
    ):
        os.symlink(target, f"{folder}/{name}")


def pivot(root: str) -> None:
    """Make `root` the root and hide the old root with everything below it."""
    os.chdir(root)
    _pivot_root(b".", b".")
    unmount(".")
    os.chdir("/")


def overlay(source: str, target: str) -> None:
    """Mount a read-only view of `source` with its own inodes: locks, watches and times on them are not shared."""
    mount("overlay", target, "overlay", READ_ONLY | NO_SUID, f"lowerdir={_escape(source)}:{EMPTY}")


def _escape(path: str) -> str:
    return path.replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")


def mount_proc(target: str) -> None:
    mount("proc", target, "proc", NO_SUID | NO_DEV | NO_EXEC)


def hide_init(folder: str) -> None:
    """Show in proc only processes that the reader could trace, which init is not. Needed if init was started inside the user
    namespace: its files in proc then belong to the guest's own user."""
    mount("proc", folder, "proc", REMOUNT | NO_SUID | NO_DEV | NO_EXEC, "hidepid=invisible")


def mask_proc(folder: str, null: str) -> None:
    """Hide the machine's key rings and make kernel settings read-only.

    A plain user's guest owns its namespaces and could otherwise change their settings. The rest of proc is safe because the
    guest is not root.
    """
    mount(f"{folder}/sys", f"{folder}/sys", None, BIND)
    make_read_only(f"{folder}/sys")
    for name in MASKED:
        try:
            mount(null, f"{folder}/{name}", None, BIND)
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise


def mount_terminals(target: str) -> None:
    mount("devpts", target, "devpts", NO_SUID | NO_EXEC, "newinstance,ptmxmode=0666,mode=0620,max=64")


def mount_scratch(area: str, size_bytes: int | None, files: int | None) -> None:
    """Mount a box's writable area. Without a size only the machine limits it (used to test the disk layer)."""
    size = "size=0" if size_bytes is None else f"size={size_bytes}"
    count = "nr_inodes=0" if files is None else f"nr_inodes={files}"
    mount("tmpfs", area, "tmpfs", NO_SUID | NO_DEV, f"{size},{count},mode=0755")


def make_folders(area: str, writable: Mapping[str, str], uid: int, gid: int, links: Iterable[tuple[str, str]] = ()) -> None:
    """Create the folders of the area that are mounted where programs expect to write.

    links: links to create, as (name below the area, target).
    """
    os.umask(0)
    for target, name in writable.items():
        folder = f"{area}/{name}"
        os.mkdir(folder, 0o1777 if target in ("/tmp", "/var/tmp", "/dev/shm") else 0o755)
        os.chown(folder, uid, gid)
    for name, target in links:
        _link(area, name, target, uid, gid)


def _link(area: str, name: str, target: str, uid: int, gid: int) -> None:
    """Create a link. Its parent folders belong to the guest, as if its own program had created them."""
    folder = area
    for part in name.split("/")[:-1]:
        folder += f"/{part}"
        if not os.path.isdir(folder):
            os.mkdir(folder, 0o755)
            os.chown(folder, uid, gid)
    os.symlink(target, f"{area}/{name}")


def bind_scratch(area: str, writable: Mapping[str, str], root: str) -> None:
    """Mount the folders of the area where programs expect them."""
    for target, name in writable.items():
        mount(f"{area}/{name}", root + target, None, BIND)
