"""Continue a live process in another box.

Theory of operation. A process cannot be moved out of its namespaces and nobody may access it from outside, but it can describe
itself. Original and copy are both forks of the same spawner, so program, libraries and addresses are the same in both:

    original ──fork──▶ source (same box)                     copy (another box, fresh from the spawner)
                        park(): reports its state, waits        become(): reads the source's memory map and private pages,
                        sends those pages           ◀──plan──   plans what to do with them,
                        and exits                   ──pages─▶   puts the pages in place, and continues

- source is an ordinary fork of the original, so at-fork handlers have run, it has one thread, and the original continues
  undisturbed. It parks inside a few bytes of machine code, where its memory no longer changes.
- copy replaces all of its own memory. Code in that memory cannot do this, so the steps are a table of system calls that machine
  code in separate memory performs one by one without a stack. At the end it loads the registers that the source saved and
  returns from the source's call of park() with 1; the source itself never returns.

Pages that both inherited from the spawner need not be sent. To distinguish them, the spawner's memory is turned into a private
mapping of a file (make_copyable): a page that a fork has not written to is the file's page in both processes, whatever the
spawner did since.

Kernel state is not copied: descriptors other than the copy's own, threads, timers, memory shared with other processes. All of
this happens with the rights of the guest on the guest's memory: an original that lies about itself harms only its own copies.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import struct
import sys
from typing import NamedTuple

_CODE = bytes.fromhex(
    # park(state, peer, table): save the callee-saved registers, the return address and the stack pointer
    "48891f 48896f08 4c896710 4c896f18 4c897720 4c897f28 488b0424 48894730 488d442408 48894738"
    "4889d3 4889fd 4989f4"
    "4c89e7 4889ee ba01000000 b801000000 0f05"  # write(peer, state, 1): parked
    "4c89e7 488d7540 ba01000000 31c0 0f05"  # read(peer, state + 64, 1): the table has arrived
    "4883f801 7545 eb0b 0f1f440000"  # otherwise exit
    # become(state, table): perform records of system call number, six arguments and expected result (-1: any)
    "4889fd 4889f3"
    "488b03 4883f8ff 743b 488b7b08 488b7310 488b5318 4c8b5320 4c8b4328 4c8b4b30 0f05"
    "488b5338 4883faff 7405 4839d0 7506 4883c340 ebc8"
    "b8e7000000 bf62000000 0f05"  # exit_group(98): unexpected result
    # number -1: load the saved registers and return 1 from park
    "488b6538 488b4d30 488b5d00 4c8b6510 4c8b6d18 4c8b7520 4c8b7d28 488b6d08 b801000000 ffe1"
)
_BECOME = 0x60
_PAGE = 4096
_BASE = 0x2000_0000_0000
"""Far from any address that the kernel chooses by itself. Machine code, saved state and table are here in all processes."""
_STATE = _BASE + _PAGE
_TABLE = _BASE + 2 * _PAGE
_TABLE_BYTES = 16 * 1024**2
_END = _TABLE + _TABLE_BYTES
_STATE_BYTES = 64

_WRITE, _CLOSE, _MMAP, _MPROTECT, _MUNMAP, _BRK = 1, 3, 9, 10, 11, 12
_PREAD, _PWRITE, _MADVISE, _RECEIVE, _EXIT_GROUP = 17, 18, 28, 45, 231
_WAIT_FOR_ALL = 0x100
_DONT_NEED = 4
_PRIVATE, _FIXED, _ANONYMOUS, _FIXED_NOREPLACE, _SHARED = 2, 0x10, 0x20, 0x100000, 1
_ANY = -1
_RECORD = struct.Struct("<8q")
_ALL_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_RIGHTS = {"r": 1, "w": 2, "x": 4}
_GET_TID_ADDRESS = 40

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
_libc.sbrk.restype = ctypes.c_void_p
_libc.sbrk.argtypes = (ctypes.c_long,)
_park = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p)(_BASE)
_become = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)(_BASE + _BECOME)

SUPPORTED = os.uname().machine == "x86_64" and os.sysconf("SC_PAGESIZE") == _PAGE and sys.platform == "linux"


class MemoryRegion(NamedTuple):
    """One mapping of a process, as listed in /proc/PID/maps."""

    start: int
    end: int
    rights: str
    offset: int
    inode: str
    name: str

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def bits(self) -> int:
        return sum(_RIGHTS[letter] for letter in self.rights[:3] if letter in _RIGHTS)

    @property
    def is_file(self) -> bool:
        return self.name.startswith("/") and not self.name.endswith(" (deleted)")


class ParkedProcess(NamedTuple):
    """What is needed to copy a parked process.

    peer: descriptor of the connection to it.
    maps: descriptor of its /proc/PID/maps.
    pages: descriptor of its /proc/PID/pagemap.
    brk: end of its heap.
    peer_there: number of the connection's descriptor in the parked process.
    """

    peer: int
    maps: int
    pages: int
    brk: int
    peer_there: int


def make_copyable(proc: str) -> None:
    """Make the forks of this spawner copyable. Call when everything is loaded.

    proc: where the spawner sees its own pid namespace.
    """
    _map_code()
    dump = os.memfd_create("warm", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    seen: list[list[MemoryRegion]] = []
    near, far = socket.socketpair()
    with near, far, open(f"{proc}/self/smaps", "rb") as maps:
        far.send(b"g")
        while len(seen) < 2 or seen[-1] != seen[-2]:  # until reading our own memory map no longer changes it
            seen.append([region for region in _regions(maps.fileno(), only_private=True) if _is_plain_data(region)])
            table = _copyable_table(seen[-1], dump)
            ctypes.memmove(_TABLE, table, len(table))
        _park(_STATE, near.fileno(), _TABLE)
    # Every box maps it privately. Sealed, nobody can change what the others read.
    fcntl.fcntl(dump, fcntl.F_ADD_SEALS, _ALL_SEALS)
    os.close(dump)


def _copyable_table(regions: list[MemoryRegion], dump: int) -> bytes:
    records, at = [], 0
    for region in regions:
        records.append(_record(_PWRITE, dump, region.start, region.size, at, expect=region.size))
        records.append(_record(_MMAP, region.start, region.size, region.bits, _PRIVATE | _FIXED, dump, at, expect=region.start))
        at += region.size
    return b"".join([*records, _record(-1)])


def _is_plain_data(region: MemoryRegion) -> bool:
    """Whether the region is neither the stack (it has to grow), nor our own memory, nor code."""
    copy_steps = region.start < _END and region.end > _BASE
    return region.rights[2:] == "-p" and not copy_steps and (not region.name.startswith("[") or region.name == "[heap]")


def _map_code() -> None:
    """Map the machine code and its table at a free address."""
    _map(_BASE, 2 * _PAGE, 7, _PRIVATE | _ANONYMOUS | _FIXED_NOREPLACE)
    ctypes.memmove(_BASE, _CODE, len(_CODE))
    _map(_TABLE, _TABLE_BYTES, 3, _PRIVATE | _ANONYMOUS | _FIXED_NOREPLACE)


def heap_end() -> int:
    end: int = _libc.sbrk(0)
    return end


def park(peer: int, plan: int) -> None:
    """In the source: wait for the plan, perform it and exit. Returns only in the copy."""
    _map(_TABLE, _TABLE_BYTES, 3, _SHARED | _FIXED, plan)
    _park(_STATE, peer, _TABLE)


def rehearse() -> None:
    """In a future copy, while it waits: plan once against ourselves, so that the memory for planning is already copied."""
    with open("/proc/self/maps", "rb") as maps, open("/proc/self/pagemap", "rb") as pages:
        _CopyPlan(ParkedProcess(-1, maps.fileno(), pages.fileno(), heap_end(), -1))


def become(source: ParkedProcess, plan: int) -> None:
    """In the copy: continue where the source parked."""
    _expect(os.read(source.peer, 1))
    copy_plan = _CopyPlan(source)
    copy_plan.finish()
    table = b"".join(copy_plan.copy_steps)
    if len(table) > _TABLE_BYTES:
        raise MemoryError("the process has too many memory regions to be copied")
    os.pwrite(plan, b"".join(copy_plan.source_steps), 0)
    os.write(source.peer, b"g")
    for descriptor in (source.maps, source.pages, plan):
        os.close(descriptor)
    ctypes.memmove(_TABLE, table, len(table))
    _become(_STATE, _TABLE)


class _CopyPlan:
    """The steps of both sides.

    source_steps: what the source has to do.
    copy_steps: what the copy has to do.

    The source writes pages to the connection while the copy reads them, in the same order, so that nobody holds them twice.
    """

    def __init__(self, source: ParkedProcess) -> None:
        self.source_steps: list[bytes] = []
        self.copy_steps: list[bytes] = []
        self._source = source
        self._files: dict[str, int] = {}
        self._in_copy(_BRK, source.brk, expect=source.brk)
        there = [region for region in _regions(source.maps) if not region.name.startswith("[v") and region.rights[3] == "p"]
        with open("/proc/self/maps", "rb") as file:
            here = [region for region in _regions(file.fileno()) if not region.name.startswith("[v")]
        self._same = {*here} & {*there}
        self._unmap_extra(here)
        for region in there:
            if "w" in region.rights or region not in self._same:
                self._copy_region(region)
        self._transfer(_STATE, _STATE_BYTES)
        self._in_source(_EXIT_GROUP, 0)

    def finish(self) -> None:
        self._fix_thread_id()
        for descriptor in (*self._files.values(), self._source.peer):
            self._in_copy(_CLOSE, descriptor)
        self._in_copy(-1)

    def _in_source(self, number: int, *arguments: int, expect: int = _ANY) -> None:
        self.source_steps.append(_record(number, *arguments, expect=expect))

    def _in_copy(self, number: int, *arguments: int, expect: int = _ANY) -> None:
        self.copy_steps.append(_record(number, *arguments, expect=expect))

    def _unmap_extra(self, regions: list[MemoryRegion]) -> None:
        """Unmap what only the copy has."""
        for region in regions:
            if region not in self._same and region.name not in ("[stack]", "[heap]"):
                for start, end in _outside(region):
                    self._in_copy(_MUNMAP, start, end - start, expect=0)

    def _copy_region(self, region: MemoryRegion) -> None:
        for start, end in _outside(region):
            part = region._replace(start=start, end=end, offset=region.offset + start - region.start)
            runs = _private_runs(self._source.pages, part)
            if region.name == "[stack]":  # exists, and grows as needed
                self._copy_pages(part, runs)
            elif region.name.startswith("/") and region in self._same:
                self._reset_file_region(part, runs)
            elif part.is_file:
                self._map(part, self._file(part.name), part.offset)
                self._copy_pages(part, runs)
            else:
                self._map(part, _ANY, 0)
                nameless = part.name.startswith("/")  # nobody else has that file: send all of it
                self._copy_pages(part, [(part.start, part.size)] if nameless else runs)

    def _reset_file_region(self, part: MemoryRegion, runs: list[tuple[int, int]]) -> None:
        """Restore a file mapping that both have, then copy what the source has changed."""
        if "w" in part.rights:
            self._in_copy(_MADVISE, part.start, part.size, _DONT_NEED, expect=0)
        self._copy_pages(part, runs)

    def _map(self, part: MemoryRegion, file: int, offset: int) -> None:
        flags = _PRIVATE | _FIXED | (_ANONYMOUS if file < 0 else 0)
        self._in_copy(_MMAP, part.start, part.size, part.bits, flags, file, offset, expect=part.start)

    def _copy_pages(self, part: MemoryRegion, runs: list[tuple[int, int]]) -> None:
        """Put pages in place. A read-only region is made writable meanwhile."""
        closed = bool(runs) and "w" not in part.rights
        if closed:
            self._in_copy(_MPROTECT, part.start, part.size, part.bits | _RIGHTS["w"], expect=0)
        for start, length in runs:
            self._transfer(start, length)
        if closed:
            self._in_copy(_MPROTECT, part.start, part.size, part.bits, expect=0)

    def _transfer(self, start: int, length: int) -> None:
        self._in_source(_WRITE, self._source.peer_there, start, length, expect=length)
        self._in_copy(_RECEIVE, self._source.peer, start, length, _WAIT_FOR_ALL, expect=length)

    def _file(self, name: str) -> int:
        if name not in self._files:
            self._files[name] = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        return self._files[name]

    def _fix_thread_id(self) -> None:
        """Correct the thread id that the C library caches."""
        address = ctypes.c_void_p()
        if _libc.prctl(_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0 and address.value:
            number = os.memfd_create("thread")
            os.write(number, struct.pack("<i", os.getpid()))
            self._in_copy(_PREAD, number, address.value, 4, 0, expect=4)
            self._in_copy(_CLOSE, number)


def _record(number: int, *arguments: int, expect: int = _ANY) -> bytes:
    return _RECORD.pack(number, *arguments, *[0] * (6 - len(arguments)), expect)


def _regions(maps: int, *, only_private: bool = False) -> list[MemoryRegion]:
    """Parse a /proc/PID/maps. With only_private, return the regions with private pages; that needs a /proc/PID/smaps."""
    text = bytearray()
    while region := os.pread(maps, 4 * _PAGE, len(text)):
        text += region
    found: list[MemoryRegion] = []
    own = []
    for line in text.decode(errors="surrogateescape").splitlines():
        words = line.split(None, 5)
        if words[0].endswith(":"):
            if words[0] == "Anonymous:" and words[1] != "0":
                own.append(found[-1])
            continue
        start, end = (int(address, 16) for address in words[0].split("-"))
        found.append(
            MemoryRegion(start, end, words[1], int(words[2], 16), f"{words[3]}:{words[4]}", words[5] if len(words) > 5 else "")
        )
    return own if only_private else found


_PRIVATE_FLAGS = bytes(int(bool(flags & 0xC0) and not flags & 0x20) for flags in range(256))
"""By the highest byte of a pagemap entry: the page is present or swapped, and not the file's."""
_RUN = re.compile(b"\\x01+(?:\\x00{1,4}\\x01+)*")
"""Small gaps are sent too: one longer run costs less than two."""


def _private_runs(pages: int, region: MemoryRegion) -> list[tuple[int, int]]:
    """Return runs of private pages as (address, length)."""
    entries = os.pread(pages, region.size // _PAGE * 8, region.start // _PAGE * 8)
    flags = entries[7::8].translate(_PRIVATE_FLAGS)
    return [(region.start + run.start() * _PAGE, (run.end() - run.start()) * _PAGE) for run in _RUN.finditer(flags)]


def _outside(region: MemoryRegion) -> list[tuple[int, int]]:
    """Return the region without our own memory, which may have been merged with it."""
    parts = ((region.start, min(region.end, _BASE)), (max(region.start, _END), region.end))
    return [(start, end) for start, end in parts if start < end]


def _map(address: int, length: int, rights: int, flags: int, descriptor: int = -1) -> None:
    if _libc.mmap(address, length, rights, flags, descriptor, 0) != address:
        raise OSError(ctypes.get_errno(), "cannot map memory at the address that all copies share")


def _expect(byte: bytes) -> None:
    if not byte:
        raise EOFError("the process to be copied has ended")
