"""Huge pages: found in the map of a process, and taken only where there is enough to gain."""

from __future__ import annotations

import mmap
from pathlib import Path

from sandbox_runtime.isolation.kernel import hugepages
from sandbox_runtime.isolation.kernel.hugepages import HUGE_BYTES, WORTH_IT_BYTES


def line(start: int, end: int, rest: str = "rw-p 00000000 00:00 0") -> str:
    return f"{start:x}-{end:x} {rest}"


def test_little_memory_is_left_alone() -> None:
    assert hugepages.collapse(line(0, WORTH_IT_BYTES - HUGE_BYTES)) == 0


def test_only_whole_huge_pages_of_anonymous_memory_count() -> None:
    maps = "\n".join(
        [
            line(1, 2 * HUGE_BYTES),
            line(4 * HUGE_BYTES, 6 * HUGE_BYTES + 4096, "rw-p 00000000 00:00 0                  [heap]"),
            line(8 * HUGE_BYTES, 12 * HUGE_BYTES, "r--p 00000000 00:00 0"),
            line(16 * HUGE_BYTES, 20 * HUGE_BYTES, "rw-p 00000000 fe:00 1234 /usr/lib/x.so"),
        ]
    )
    assert [place // HUGE_BYTES for place in hugepages._places(maps)] == [1, 4, 5]


def test_what_memory_holds_is_the_same_afterwards() -> None:
    with mmap.mmap(-1, 2 * WORTH_IT_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        for place in range(0, len(memory), 4096):
            memory[place] = place // 4096 % 251
        hugepages.collapse(Path("/proc/self/maps").read_text())
        assert all(memory[place] == place // 4096 % 251 for place in range(0, len(memory), 4096))
