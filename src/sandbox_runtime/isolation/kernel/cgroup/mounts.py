"""Where the cgroup hierarchies are mounted, and which groups this process is in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Mount:
    """One mounted hierarchy. `root` is the part of it visible at `point`; not "/" if a container sees only a part."""

    version: int
    root: str
    point: str
    controllers: frozenset[str]
    read_only: bool


def read_mounts(text: str) -> list[Mount]:
    """Parse /proc/self/mountinfo."""
    mounts = []
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind not in ("cgroup", "cgroup2"):
            continue
        words = before.split(" ")
        flags = {*words[5].split(","), *options.split(",")}
        version = 2 if kind == "cgroup2" else 1
        mounts.append(Mount(version, _unescape(words[3]), _unescape(words[4]), frozenset(options.split(",")), "ro" in flags))
    return mounts


def read_own_paths(text: str) -> Mapping[str, str]:
    """Parse /proc/self/cgroup into controller → path in its hierarchy; version 2 has the empty name."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def bases(mount: Mount, own_path: str) -> list[str]:
    """Return directories in which the server could create its own: its own group first, so that outer limits apply, then each
    parent."""
    relative = _relative(own_path, mount.root)
    parents = []
    while relative:
        parents.append(os.path.join(mount.point, relative))
        relative = os.path.dirname(relative)
    return [directory for directory in [*parents, mount.point] if os.path.isdir(directory)]


def _relative(path: str, root: str) -> str:
    """Return `path` relative to `root`, or "" (the top) if the process is outside of what is mounted."""
    if os.path.commonpath([path, root]) != root or ".." in path.split("/"):
        return ""
    return path[len(root) :].strip("/")


def _unescape(word: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word)
