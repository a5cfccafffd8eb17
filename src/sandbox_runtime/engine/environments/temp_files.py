"""Files that are in the workspace only while a program runs, and their removal."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence

from sandbox_runtime.errors import Conflict
from sandbox_runtime.workspace.area import Area, resolve
from sandbox_runtime.workspace.syscalls import open_beneath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
MAX_NAMES = 100_000


def entry_names(area: Area) -> frozenset[str]:
    """Return the names directly in the workspace, not below."""
    folder = open_beneath(area.files_fd, area.writable[area.workdir], _FOLDER)
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry, _ in zip(entries, range(MAX_NAMES), strict=False))
    finally:
        os.close(folder)


def printable(found: frozenset[str]) -> frozenset[str]:
    """Return the printable names. Files with other names, made by a hostile compile step, stay."""
    return frozenset(name for name in found if name.isprintable())


def top_level_name(name: str, workdir: str) -> str:
    """Return the first component of a name below the workspace, or an empty string if it lies elsewhere."""
    if name.startswith("/") and not name.startswith(f"{workdir}/"):
        return ""
    return next(part for part in name.removeprefix(f"{workdir}/").split("/") if part not in ("", "."))


def check_free(there: frozenset[str], variables: Iterable[str], title: str) -> None:
    for name in variables:
        if name in there:
            raise Conflict(f"the workspace already contains {name!r}, which a {title} program would replace: rename it")


def unlink(area: Area, placed: Sequence[str]) -> None:
    """Remove our files and links. What the program removed or replaced by a folder stays as it is."""
    for name in placed:
        parent, _, last = resolve(area, name).rpartition("/")
        with contextlib.suppress(OSError):
            folder = open_beneath(area.files_fd, parent, _FOLDER)
            try:
                os.unlink(last, dir_fd=folder)
            finally:
                os.close(folder)
