"""Huge pages: a process with much memory forks and ends faster when the kernel has fewer entries to copy and to drop."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from sandbox_runtime.isolation.kernel import libc

HUGE_BYTES = 2 * 1024 * 1024
WORTH_IT_BYTES = 32 * 1024 * 1024
"""Below this a forked process takes the huge pages apart again for more than it saved."""

_COLLAPSE = 25
_madvise = libc.Function("madvise", libc.POINTER, libc.ULONG, libc.INT)
_ANONYMOUS = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ 00:00 0\s*(\[heap\])?")


def collapse(maps: str) -> int:
    """Move the caller's own memory into huge pages where it has enough of it. Returns how many; a kernel that has none, or no
    room, leaves things as they are, and nothing but time is lost."""
    wanted = [place for place in _places(maps)]
    if len(wanted) * HUGE_BYTES < WORTH_IT_BYTES:
        return 0
    done = 0
    for place in wanted:
        with contextlib.suppress(OSError):
            _madvise(place, HUGE_BYTES, _COLLAPSE)
            done += 1
    return done


def _places(maps: str) -> Iterator[int]:
    """Addresses at which a whole huge page lies in anonymous memory, by the text of /proc/self/maps."""
    for line in maps.splitlines():
        found = _ANONYMOUS.fullmatch(line)
        if found:
            start, end = int(found[1], 16), int(found[2], 16)
            yield from range(-(-start // HUGE_BYTES) * HUGE_BYTES, end - HUGE_BYTES + 1, HUGE_BYTES)
