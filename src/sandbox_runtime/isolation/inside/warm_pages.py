"""Which pages of its interpreter's memory a program writes to.

A box shares its memory with the spawner it was forked from until it writes to it; each page is copied at the first write, which
costs about two microseconds, and a small program writes to several hundred of them. They are nearly the same ones every time. So
the first box of a spawner runs a sample, and its last act is to tell which pages have become its own (tell). Later boxes
have these copied while they wait for their order (WarmPages.copy), in one call, and not while somebody waits for them.
"""

from __future__ import annotations

import ctypes
import os
import re

from sandbox_runtime.isolation.kernel import libc

_PAGE = os.sysconf("SC_PAGESIZE")
_PRIVATE_FLAGS = bytes(int(flags & 0xA1 == 0x81) for flags in range(256))
"""From the highest byte of what the kernel tells of a page: present, mapped by nobody else, and no file's."""
_RUN = re.compile(b"\\x01+")
_PROCESS_MADVISE = 440
_POPULATE_WRITE = 23
_MAX_RUNS_PER_CALL = 1024
"""PageRuns that the kernel takes in one call."""
_RUN_BYTES = 16
MAX_RUNS = 4096
"""What a box may tell: a spawner hears of it in one message."""

PageRuns = list[tuple[int, int]]
"""Address and length of each."""

_process_madvise = libc.Function(
    "syscall", libc.LONG, libc.LONG, libc.POINTER, libc.ULONG, libc.LONG, libc.ULONG, what="process_madvise"
)


def write_private_pages(descriptor: int, proc: str = "/proc") -> None:
    """Write the pages that are this process' own to the descriptor, a run a line."""
    runs = [run for start, end in _writable(f"{proc}/self/maps") for run in _private_runs(f"{proc}/self/pagemap", start, end)]
    text = "".join(f"{start} {length}\n" for start, length in runs).encode()
    while text:
        text = text[os.write(descriptor, text) :]


def parse_pages(text: str) -> PageRuns:
    """What tell wrote, as much as a spawner is told."""
    return [(int(start), int(length)) for start, length in (line.split() for line in text.splitlines()[:MAX_RUNS])]


class WarmPages:
    """Made in a spawner from the runs that its first box told of."""

    def __init__(self, runs: PageRuns, proc: str) -> None:
        """Of what the box had beyond its spawner's memory nothing can be copied."""
        here = _writable(f"{proc}/self/maps")
        kept = [(start, length) for start, length in runs if any(a <= start and start + length <= b for a, b in here)]
        self._count = len(kept)
        self._runs = (ctypes.c_uint64 * (2 * self._count))(*[number for run in kept for number in run])
        self._address = ctypes.addressof(self._runs)

    def copy(self) -> bool:
        """Whether it was done. Linux allows it from 6.13 on; where it does not, a rehearsal has much the same effect. Memory that
        the spawner has given back since ends a call early: what comes after is copied when it is written to, as ever."""
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
    """Pieces of memory that nobody else sees the changes of."""
    found = []
    with open(maps, "rb") as file:
        for line in file:
            addresses, rights, *_ = line.split(None, 2)
            if rights.startswith(b"rw") and rights.endswith(b"p"):
                start, end = addresses.split(b"-")
                found.append((int(start, 16), int(end, 16)))
    return found


def _private_runs(pagemap: str, start: int, end: int) -> PageRuns:
    with open(pagemap, "rb", buffering=0) as file:
        flags = os.pread(file.fileno(), (end - start) // _PAGE * 8, start // _PAGE * 8)[7::8].translate(_PRIVATE_FLAGS)
    return [(start + run.start() * _PAGE, (run.end() - run.start()) * _PAGE) for run in _RUN.finditer(flags)]
