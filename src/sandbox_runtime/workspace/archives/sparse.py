"""Files with holes in a tar file, in the form that GNU tar calls PAX 1.0: a map of the data ranges, then the data alone.

GNU tar, bsdtar and Python's tarfile read it. The header names what the file is called and how large it is; the map is decimal
numbers, one a line, filled up to a block: how many ranges, then the offset and the length of each.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace.extents import Extent
from sandbox_runtime.workspace.os_errors import show_name

MAX_EXTENTS = 65_536
"""Of one file. A file with more is packed with its holes filled."""
_BLOCK = tarfile.BLOCKSIZE
_MAX_DIGITS = 19
_MAX_MAP_BYTES = (2 * MAX_EXTENTS + 3) * (_MAX_DIGITS + 1)


def make_sparse(info: tarfile.TarInfo, size: int, extents: Sequence[Extent]) -> bytes:
    """Change the header of a plain file into that of a sparse one, and return the map that follows it."""
    # The range of no length at the end says where the file ends, as GNU tar has it.
    numbers = [len(extents) + 1, *(number for extent in extents for number in extent), size, 0]
    text = "".join(f"{number}\n" for number in numbers).encode()
    told = {"major": "1", "minor": "0", "name": info.name, "realsize": str(size)}
    info.pax_headers = {f"GNU.sparse.{key}": value for key, value in told.items()}
    info.size = len(text) + -len(text) % _BLOCK + sum(length for _, length in extents)
    return text + bytes(-len(text) % _BLOCK)


@dataclass(frozen=True, slots=True)
class SparseMember:
    name: str
    size_bytes: int
    extents: tuple[Extent, ...]
    map_bytes: int


def is_sparse(told: Mapping[str, str]) -> bool:
    return any(key.startswith("GNU.sparse") for key in told)


def read_sparse(told: Mapping[str, str], stored: int, read_block: Callable[[], bytes]) -> SparseMember:
    """Return what a member is whose content, so many bytes, begins with a map. Raises InvalidRequest."""
    name = told.get("GNU.sparse.name", "")
    if (told.get("GNU.sparse.major"), told.get("GNU.sparse.minor")) != ("1", "0") or not name:
        raise InvalidRequest(
            f"the archive's {show_name(name or told.get('path', ''))} is sparse in an old form: use tar --sparse-version=1.0"
        )
    size = _number(told.get("GNU.sparse.realsize", ""), name)
    numbers, map_bytes = _map(name, stored, read_block)
    found = tuple(zip(numbers[::2], numbers[1::2], strict=True))
    extents = tuple(extent for extent in found if extent[1])
    ends = [offset + length for offset, length in found]
    if any(after < end for end, (after, _) in zip((0, *ends), found, strict=False)) or max(ends, default=0) > size:
        raise _damaged(name)
    if map_bytes + sum(length for _, length in extents) != stored:
        raise _damaged(name)
    return SparseMember(name, size, extents, map_bytes)


def _map(name: str, stored: int, read_block: Callable[[], bytes]) -> tuple[list[int], int]:
    text = bytearray()
    lines = wanted = 0
    while not wanted or lines < wanted:
        if len(text) + _BLOCK > min(stored, _MAX_MAP_BYTES):
            raise _damaged(name)
        block = read_block()
        text += block
        lines += block.count(b"\n")
        if not wanted and lines:
            wanted = 1 + 2 * _number(bytes(text[: text.index(b"\n")]).decode(errors="replace"), name)
    return [_number(line.decode(errors="replace"), name) for line in bytes(text).split(b"\n", wanted)[1:wanted]], len(text)


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise _damaged(name)
    return int(text)


def _damaged(name: str) -> InvalidRequest:
    return InvalidRequest(f"the archive is damaged: the map of the sparse file {show_name(name)} makes no sense, or is too long")
