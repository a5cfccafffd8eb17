"""Mounts: the read-only root that all boxes of a spawner share, and the writable folders that each has for itself."""

from __future__ import annotations

import errno
import os
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

NODES = ("null", "zero", "full", "random", "urandom")
MASKED = ("keys", "key-users")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    libc.call(
        "mount",
        source.encode(),
        target.encode(),
        kind.encode() if kind else None,
        flags,
        options.encode() if options else None,
    )


def unmount(target: str) -> None:
    libc.call("umount2", target.encode(), DETACH)


def make_private() -> None:
    """Nothing mounted from now on reaches another namespace, nor the other way round."""
    mount("none", "/", None, RECURSIVE | PRIVATE)


def bind(source: str, target: str, *, read_only: bool) -> None:
    mount(source, target, None, BIND | RECURSIVE)
    if read_only:
        _make_tree_read_only(target)


def _make_tree_read_only(target: str) -> None:
    """The mount and all below it; a plain remount would leave file systems mounted deeper down writable."""
    attributes = struct.pack("QQQQ", _ATTR_READ_ONLY | _ATTR_NO_SUID | _ATTR_NO_DEV, 0, 0, 0)
    libc.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, target.encode(), _AT_RECURSIVE, attributes, len(attributes), what=f"mount_setattr {target}"
    )


def build_root(place: str, view: Iterable[Mapping[str, str]], folders: Iterable[str], *, host_devices: bool) -> None:
    """A tmpfs at `place` that holds what boxes may see.

    view entries: {"kind": "bind", "source", "target"}, {"kind": "link", "source", "target"} or {"kind": "text", "text", "target"};
    folders: empty places on which each box mounts its own.
    """
    mount("tmpfs", place, "tmpfs", NO_SUID | NO_DEV, "mode=0755,size=16m")
    for folder in folders:
        os.makedirs(place + folder, mode=0o755, exist_ok=True)
    for entry in view:
        _place_entry(place + entry["target"], entry)
    _place_devices(place + "/dev", host_devices=host_devices)


def _place_entry(target: str, entry: Mapping[str, str]) -> None:
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    if entry["kind"] == "link":
        os.symlink(entry["source"], target)
    elif entry["kind"] == "text":
        _write_file(target, entry["text"])
    else:
        _make_mount_point(target, is_folder=os.path.isdir(entry["source"]))
        bind(entry["source"], target, read_only=entry.get("writable") != "yes")


def _write_file(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o644)


def _make_mount_point(target: str, *, is_folder: bool) -> None:
    if is_folder:
        os.makedirs(target, mode=0o755, exist_ok=True)
    else:
        _write_file(target, "")


def _place_devices(folder: str, *, host_devices: bool) -> None:
    if host_devices:
        bind("/dev", folder, read_only=False)
        return
    os.makedirs(folder, mode=0o755, exist_ok=True)
    for node in NODES:
        _write_file(f"{folder}/{node}", "")
        mount(f"/dev/{node}", f"{folder}/{node}", None, BIND)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"), ("ptmx", "pts/ptmx")):
        os.symlink(target, f"{folder}/{name}")


def pivot(place: str) -> None:
    """`place` becomes the root and the old one is gone from sight, with everything below it."""
    os.chdir(place)
    libc.call("pivot_root", b".", b".")
    unmount(".")
    os.chdir("/")
    mount("none", "/", None, REMOUNT | BIND | READ_ONLY | NO_SUID | NO_DEV)


def mount_proc(target: str) -> None:
    mount("proc", target, "proc", NO_SUID | NO_DEV | NO_EXEC)


def mask_proc(folder: str) -> None:
    """Hide what tells of the machine's key rings; the rest of proc is guarded by the guest not being root."""
    for name in MASKED:
        try:
            mount("/dev/null", f"{folder}/{name}", None, BIND)
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise


def mount_terminals(target: str) -> None:
    mount("devpts", target, "devpts", NO_SUID | NO_EXEC, "newinstance,ptmxmode=0666,mode=0620")


def mount_scratch(place: str, size_bytes: int | None, files: int | None) -> None:
    """A box's own writable area. Without a size it is bounded by the machine only (proofs use that)."""
    size = "size=0" if size_bytes is None else f"size={size_bytes}"
    count = "nr_inodes=0" if files is None else f"nr_inodes={files}"
    mount("tmpfs", place, "tmpfs", NO_SUID | NO_DEV, f"{size},{count},mode=0755")


def spread_scratch(place: str, writable: Mapping[str, str], uid: int, gid: int) -> None:
    """Make a folder of the area for each place that programs expect to write to, and put it there."""
    for target, name in writable.items():
        folder = f"{place}/{name}"
        os.mkdir(folder)
        os.chown(folder, uid, gid)
        os.chmod(folder, 0o1777 if target in ("/tmp", "/var/tmp", "/dev/shm") else 0o755)
        mount(folder, target, None, BIND)
