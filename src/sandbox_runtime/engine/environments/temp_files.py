"""What a program put into the workspace only to be run, and how that leaves again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence

from sandbox_runtime.errors import Conflict
from sandbox_runtime.workspace import Area, place
from sandbox_runtime.workspace.openat2 import open_beneath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
MAX_NAMES = 100_000


def entry_names(area: Area) -> frozenset[str]:
    """What lies in the workspace itself, not below."""
    folder = open_beneath(area.files_fd, area.writable[area.workdir], _FOLDER)
    try:
        with os.scandir(folder) as entries:
            return frozenset(entry.name for entry, _ in zip(entries, range(MAX_NAMES), strict=False))
    finally:
        os.close(folder)


def printable(found: frozenset[str]) -> frozenset[str]:
    """Those that are text: what a program that runs while it is compiled called otherwise stays where it is."""
    return frozenset(name for name in found if name.isprintable())


def top_level_name(name: str, workdir: str) -> str:
    """Of a name below the workspace; empty for one that lies elsewhere."""
    if name.startswith("/") and not name.startswith(f"{workdir}/"):
        return ""
    return next(part for part in name.removeprefix(f"{workdir}/").split("/") if part not in ("", "."))


def check_free(there: frozenset[str], variables: Iterable[str], title: str) -> None:
    for name in variables:
        if name in there:
            raise Conflict(f"the workspace has a {name!r} of its own, which a {title} program would replace: rename it")


def unlink(area: Area, placed: Sequence[str]) -> None:
    """Files and links of ours by the names they were placed under. What the program removed or replaced by a folder stays so."""
    for name in placed:
        parent, _, last = place(area, name).rpartition("/")
        with contextlib.suppress(OSError):
            folder = open_beneath(area.files_fd, parent, _FOLDER)
            try:
                os.unlink(last, dir_fd=folder)
            finally:
                os.close(folder)
