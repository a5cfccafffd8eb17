"""A live process continued in another box.

Theory of operation. A process cannot be moved out of its namespaces, and nobody may reach into it; but it can tell what it is
made of. Original and copy are both forks of the same spawner, so program, libraries and addresses are the same in both:

    original ──fork──▶ source (same box)                 copy (another box, fresh from the spawner)
                        park(): says where it stands, waits     become(): reads the source's map and which pages are its own,
                        sends those pages           ◀──plan──   plans what is to be done about them,
                        and ends                    ──pages─▶   puts the pages where they were, and goes on

- source is an ordinary fork of the original, so at-fork handlers have run, it has one thread, and the original goes on
  undisturbed. It parks inside a few bytes of machine code, where nothing of its memory changes any more.
- copy replaces all of its own memory. That cannot be done from code that lies in it: so the steps are a table of system
  calls, which machine code in memory of its own performs one by one without using a stack; at the end it loads the registers
  that the source saved and returns from the source's call of park(), with 1 where the source never returns.

Pages that both have from their spawner need not travel. To tell them apart the spawner's memory is made a private mapping of a
file (bake): what a fork of it has not written to is the file's, in either of them, whatever the spawner itself did since.

What belongs to the kernel is not carried over: descriptors other than the copy's own, threads, timers, memory shared with other
processes. All of this happens with the rights of the guest, on memory of the guest: an original that lies about itself harms
its own copies.
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
    # park(state, peer, table): save what a call must preserve, where it returns to and with which stack
    "48891f 48896f08 4c896710 4c896f18 4c897720 4c897f28 488b0424 48894730 488d442408 48894738"
    "4889d3 4889fd 4989f4"
    "4c89e7 4889ee ba01000000 b801000000 0f05"  # write(peer, state, 1): parked
    "4c89e7 488d7540 ba01000000 31c0 0f05"  # read(peer, state + 64, 1): the table is there
    "4883f801 7545 eb0b 0f1f440000"  # or else the end
    # become(state, table): perform records of a call's number, six arguments and the result it must have, -1 for any
    "4889fd 4889f3"
    "488b03 4883f8ff 743b 488b7b08 488b7310 488b5318 4c8b5320 4c8b4328 4c8b4b30 0f05"
    "488b5338 4883faff 7405 4839d0 7506 4883c340 ebc8"
    "b8e7000000 bf62000000 0f05"  # exit_group(98): a call had another result
    # number -1: load what was saved, and return 1 from park
    "488b6538 488b4d30 488b5d00 4c8b6510 4c8b6d18 4c8b7520 4c8b7d28 488b6d08 b801000000 ffe1"
)
_BECOME = 0x60
_PAGE = 4096
_BASE = 0x2000_0000_0000
"""Far from where the kernel puts anything by itself: machine code, saved state and table lie there in all of them."""
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

POSSIBLE = os.uname().machine == "x86_64" and os.sysconf("SC_PAGESIZE") == _PAGE and sys.platform == "linux"


class Piece(NamedTuple):
    """A piece of a process's memory, as /proc/PID/maps tells of it."""

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


class Source(NamedTuple):
    """By what a parked process is copied: descriptors of the line to it, of its map and of what is known of its pages; where its
    heap ends; and the number that its end of the line has."""

    peer: int
    maps: int
    pages: int
    brk: int
    peer_there: int


def bake(proc: str) -> None:
    """In a spawner, when all is loaded: from here on its forks can be copied. proc: where it sees its own pid namespace."""
    _prepare()
    dump = os.memfd_create("warm", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    kept: list[list[Piece]] = []
    near, far = socket.socketpair()
    with near, far, open(f"{proc}/self/smaps", "rb") as maps:
        far.send(b"g")
        while len(kept) < 2 or kept[-1] != kept[-2]:  # until looking at our memory does not change it any more
            kept.append([piece for piece in _pieces(maps.fileno(), of_its_own=True) if _is_plain(piece)])
            table = _baking(kept[-1], dump)
            ctypes.memmove(_TABLE, table, len(table))
        _park(_STATE, near.fileno(), _TABLE)
    # Every box has it mapped, privately: sealed, nobody can change what the others read.
    fcntl.fcntl(dump, fcntl.F_ADD_SEALS, _ALL_SEALS)
    os.close(dump)


def _baking(pieces: list[Piece], dump: int) -> bytes:
    records, at = [], 0
    for piece in pieces:
        records.append(_record(_PWRITE, dump, piece.start, piece.size, at, expect=piece.size))
        records.append(_record(_MMAP, piece.start, piece.size, piece.bits, _PRIVATE | _FIXED, dump, at, expect=piece.start))
        at += piece.size
    return b"".join([*records, _record(-1)])


def _is_plain(piece: Piece) -> bool:
    """Not the stack, which has to grow, nor our own memory, nor code."""
    ours = piece.start < _END and piece.end > _BASE
    return piece.rights[2:] == "-p" and not ours and (not piece.name.startswith("[") or piece.name == "[heap]")


def _prepare() -> None:
    """Where nothing else lies: machine code and room for its table."""
    _map(_BASE, 2 * _PAGE, 7, _PRIVATE | _ANONYMOUS | _FIXED_NOREPLACE)
    ctypes.memmove(_BASE, _CODE, len(_CODE))
    _map(_TABLE, _TABLE_BYTES, 3, _PRIVATE | _ANONYMOUS | _FIXED_NOREPLACE)


def heap_end() -> int:
    end: int = _libc.sbrk(0)
    return end


def park(peer: int, plan: int) -> None:
    """In the source: wait for the plan, follow it, and end. Returns in the copy alone."""
    _map(_TABLE, _TABLE_BYTES, 3, _SHARED | _FIXED, plan)
    _park(_STATE, peer, _TABLE)


def rehearse() -> None:
    """In what is to become a copy, while it waits: plan once with ourselves, so that what planning needs of memory is there."""
    with open("/proc/self/maps", "rb") as maps, open("/proc/self/pagemap", "rb") as pages:
        _Copying(Source(-1, maps.fileno(), pages.fileno(), heap_end(), -1))


def become(source: Source, plan: int) -> None:
    """In the copy: go on where the source parked."""
    _expect(os.read(source.peer, 1))
    copying = _Copying(source)
    copying.finish()
    table = b"".join(copying.ours)
    if len(table) > _TABLE_BYTES:
        raise MemoryError("the process has too many pieces to be copied")
    os.pwrite(plan, b"".join(copying.theirs), 0)
    os.write(source.peer, b"g")
    for descriptor in (source.maps, source.pages, plan):
        os.close(descriptor)
    ctypes.memmove(_TABLE, table, len(table))
    _become(_STATE, _TABLE)


class _Copying:
    """theirs: what the source has to do; ours: what the copy has to do. Pages are written to the line by one and read from it by
    the other in the same order, both at the same time, so that nobody holds them twice."""

    def __init__(self, source: Source) -> None:
        self.theirs: list[bytes] = []
        self.ours: list[bytes] = []
        self._source = source
        self._files: dict[str, int] = {}
        self._here(_BRK, source.brk, expect=source.brk)
        there = [piece for piece in _pieces(source.maps) if not piece.name.startswith("[v") and piece.rights[3] == "p"]
        with open("/proc/self/maps", "rb") as file:
            here = [piece for piece in _pieces(file.fileno()) if not piece.name.startswith("[v")]
        self._same = {*here} & {*there}
        self._give_up(here)
        for piece in there:
            if "w" in piece.rights or piece not in self._same:
                self._take_over(piece)
        self._move(_STATE, _STATE_BYTES)
        self._there(_EXIT_GROUP, 0)

    def finish(self) -> None:
        self._correct_thread_id()
        for descriptor in (*self._files.values(), self._source.peer):
            self._here(_CLOSE, descriptor)
        self._here(-1)

    def _there(self, number: int, *arguments: int, expect: int = _ANY) -> None:
        self.theirs.append(_record(number, *arguments, expect=expect))

    def _here(self, number: int, *arguments: int, expect: int = _ANY) -> None:
        self.ours.append(_record(number, *arguments, expect=expect))

    def _give_up(self, pieces: list[Piece]) -> None:
        """What only the copy has."""
        for piece in pieces:
            if piece not in self._same and piece.name not in ("[stack]", "[heap]"):
                for start, end in _outside(piece):
                    self._here(_MUNMAP, start, end - start, expect=0)

    def _take_over(self, piece: Piece) -> None:
        for start, end in _outside(piece):
            part = piece._replace(start=start, end=end, offset=piece.offset + start - piece.start)
            runs = _own_pages(self._source.pages, part)
            if piece.name == "[stack]":  # it is there, and grows where it has to
                self._put(part, runs)
            elif piece.name.startswith("/") and piece in self._same:
                self._revert(part, runs)
            elif part.is_file:
                self._map(part, self._file(part.name), part.offset)
                self._put(part, runs)
            else:
                self._map(part, _ANY, 0)
                nameless = part.name.startswith("/")  # nobody else has that file: all of it has to travel
                self._put(part, [(part.start, part.size)] if nameless else runs)

    def _revert(self, part: Piece, runs: list[tuple[int, int]]) -> None:
        """A file that both have mapped: its own content, and over it what the source has changed."""
        if "w" in part.rights:
            self._here(_MADVISE, part.start, part.size, _DONT_NEED, expect=0)
        self._put(part, runs)

    def _map(self, part: Piece, file: int, offset: int) -> None:
        flags = _PRIVATE | _FIXED | (_ANONYMOUS if file < 0 else 0)
        self._here(_MMAP, part.start, part.size, part.bits, flags, file, offset, expect=part.start)

    def _put(self, part: Piece, runs: list[tuple[int, int]]) -> None:
        """Pages, where they were; what may not be written to may be for that long."""
        closed = bool(runs) and "w" not in part.rights
        if closed:
            self._here(_MPROTECT, part.start, part.size, part.bits | _RIGHTS["w"], expect=0)
        for start, length in runs:
            self._move(start, length)
        if closed:
            self._here(_MPROTECT, part.start, part.size, part.bits, expect=0)

    def _move(self, start: int, length: int) -> None:
        self._there(_WRITE, self._source.peer_there, start, length, expect=length)
        self._here(_RECEIVE, self._source.peer, start, length, _WAIT_FOR_ALL, expect=length)

    def _file(self, name: str) -> int:
        if name not in self._files:
            self._files[name] = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        return self._files[name]

    def _correct_thread_id(self) -> None:
        """The C library remembers its thread's number, which is another one here."""
        address = ctypes.c_void_p()
        if _libc.prctl(_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0 and address.value:
            number = os.memfd_create("thread")
            os.write(number, struct.pack("<i", os.getpid()))
            self._here(_PREAD, number, address.value, 4, 0, expect=4)
            self._here(_CLOSE, number)


def _record(number: int, *arguments: int, expect: int = _ANY) -> bytes:
    return _RECORD.pack(number, *arguments, *[0] * (6 - len(arguments)), expect)


def _pieces(maps: int, *, of_its_own: bool = False) -> list[Piece]:
    """of_its_own: those with pages that are no file's; that takes the text of a /proc/PID/smaps."""
    text = bytearray()
    while piece := os.pread(maps, 4 * _PAGE, len(text)):
        text += piece
    found: list[Piece] = []
    own = []
    for line in text.decode(errors="surrogateescape").splitlines():
        words = line.split(None, 5)
        if words[0].endswith(":"):
            if words[0] == "Anonymous:" and words[1] != "0":
                own.append(found[-1])
            continue
        start, end = (int(address, 16) for address in words[0].split("-"))
        found.append(Piece(start, end, words[1], int(words[2], 16), f"{words[3]}:{words[4]}", words[5] if len(words) > 5 else ""))
    return own if of_its_own else found


_OWN = bytes(int(bool(flags & 0xC0) and not flags & 0x20) for flags in range(256))
"""From the highest byte of what the kernel tells of a page: present or swapped out, and not the file's."""
_RUN = re.compile(b"\\x01+(?:\\x00{1,4}\\x01+)*")
"""Small gaps travel too: a longer run costs less than two."""


def _own_pages(pages: int, piece: Piece) -> list[tuple[int, int]]:
    """Runs of pages that the source has for itself: address and length."""
    told = os.pread(pages, piece.size // _PAGE * 8, piece.start // _PAGE * 8)
    flags = told[7::8].translate(_OWN)
    return [(piece.start + run.start() * _PAGE, (run.end() - run.start()) * _PAGE) for run in _RUN.finditer(flags)]


def _outside(piece: Piece) -> list[tuple[int, int]]:
    """The piece without our own memory, which may have been joined to it."""
    parts = ((piece.start, min(piece.end, _BASE)), (max(piece.start, _END), piece.end))
    return [(start, end) for start, end in parts if start < end]


def _map(address: int, length: int, rights: int, flags: int, descriptor: int = -1) -> None:
    if _libc.mmap(address, length, rights, flags, descriptor, 0) != address:
        raise OSError(ctypes.get_errno(), "no memory can be had at the address that all contexts have in common")


def _expect(byte: bytes) -> None:
    if not byte:
        raise EOFError("the process to be copied is gone")
