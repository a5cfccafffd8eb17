"""Find and copy in advance the memory pages that programs write to.

A box shares its memory with the spawner it was forked from. Each page is copied at the first write, which costs about two
microseconds, and a small program writes to several hundred pages, nearly the same ones each time. So the first box of a spawner
runs a sample program and finally reports which pages became private (write_private_pages). Later boxes copy these pages in one
call while they wait for their order (WarmPages.copy).
"""

from __future__ import annotations

import ctypes
import os
import re

from sandbox_runtime.isolation.kernel import libc

_PAGE = os.sysconf("SC_PAGESIZE")
_PRIVATE_FLAGS = bytes(int(flags & 0xA1 == 0x81) for flags in range(256))
"""By the highest byte of a pagemap entry: the page is present, exclusively mapped and anonymous."""
_RUN = re.compile(b"\\x01+")
_PROCESS_MADVISE = 440
_POPULATE_WRITE = 23
_MAX_RUNS_PER_CALL = 1024
"""Limit of the kernel."""
_RUN_BYTES = 16
MAX_RUNS = 4096
"""How many runs a box may report: they must fit into one message to the spawner."""

PageRuns = list[tuple[int, int]]
"""Runs of pages as (address, length)."""

_process_madvise = libc.Function(
    "syscall", libc.LONG, libc.LONG, libc.POINTER, libc.ULONG, libc.LONG, libc.ULONG, what="process_madvise"
)


def write_private_pages(descriptor: int, proc: str = "/proc") -> None:
    """Write the private pages of this process to the descriptor, one run per line."""
    runs = [run for start, end in _writable(f"{proc}/self/maps") for run in _private_runs(f"{proc}/self/pagemap", start, end)]
    text = "".join(f"{start} {length}\n" for start, length in runs).encode()
    while text:
        text = text[os.write(descriptor, text) :]


def parse_pages(text: str) -> PageRuns:
    """Parse the output of write_private_pages, up to MAX_RUNS entries."""
    return [(int(start), int(length)) for start, length in (line.split() for line in text.splitlines()[:MAX_RUNS])]


class WarmPages:
    """Pages to copy; created in a spawner from what its first box reported."""

    def __init__(self, runs: PageRuns, proc: str) -> None:
        """Drop runs outside of the spawner's memory."""
        here = _writable(f"{proc}/self/maps")
        kept = [(start, length) for start, length in runs if any(a <= start and start + length <= b for a, b in here)]
        self._count = len(kept)
        self._runs = (ctypes.c_uint64 * (2 * self._count))(*[number for run in kept for number in run])
        self._address = ctypes.addressof(self._runs)

    def copy(self) -> bool:
        """Copy the pages. Returns whether that worked.

        Needs Linux 6.13; before that, a rehearsal has much the same effect. A call ends early at memory that the spawner has
        freed since; the remaining pages are then copied on write.
        """
        if not self._count:
            return False
        own = os.pidfd_open(os.getpid())
        try:
            for first in range(0, self._count, _MAX_RUNS_PER_CALL):
                count = min(_MAX_RUNS_PER_CALL, self._count - first)
                _process_madvise(_PROCESS_MADVISE, own, self._address + first * _RUN_BYTES, count, _POPULATE_WRITE, 0)
        except OSError:
            return False
        finally:
            os.close(own)
        return True


def _writable(maps: str) -> list[tuple[int, int]]:
    """Return the private writable mappings."""
    mappings = []
    with open(maps, "rb") as file:
        for line in file:
            addresses, rights, *_ = line.split(None, 2)
            if rights.startswith(b"rw") and rights.endswith(b"p"):
                start, end = addresses.split(b"-")
                mappings.append((int(start, 16), int(end, 16)))
    return mappings


def _private_runs(pagemap: str, start: int, end: int) -> PageRuns:
    with open(pagemap, "rb", buffering=0) as file:
        flags = os.pread(file.fileno(), (end - start) // _PAGE * 8, start // _PAGE * 8)[7::8].translate(_PRIVATE_FLAGS)
    return [(start + run.start() * _PAGE, (run.end() - run.start()) * _PAGE) for run in _RUN.finditer(flags)]
