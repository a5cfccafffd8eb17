"""What an archive holds, checked: each member has a name below the folder it goes to, and all of them are within bounds."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import GIB, MIB
from sandbox_runtime.workspace.extents import Extent
from sandbox_runtime.workspace.os_errors import show_name

_NAME_BYTES = 4000
_LINK_BYTES = 4095


@dataclass(frozen=True, slots=True)
class ArchiveBounds:
    max_members: int = 20_000
    max_bytes: int = GIB
    max_ratio: float = 200.0
    """How many times larger than the archive its content may be, beyond the first 16 MiB."""

    def check(self, content_bytes: int, archive_bytes: int) -> None:
        if content_bytes > self.max_bytes:
            raise InvalidRequest(f"the archive holds more than the {self.max_bytes} bytes that may be unpacked")
        if content_bytes > 16 * MIB + self.max_ratio * archive_bytes:
            raise InvalidRequest(
                f"the archive grows to more than {self.max_ratio:g} times its size when it is unpacked, as made to fill disks"
            )


class MemberKind(enum.Enum):
    file = enum.auto()
    folder = enum.auto()
    link = enum.auto()
    hard_link = enum.auto()


Content = Callable[[], Iterator[bytes]]
"""Gives the bytes of a member. Those of one member are read before the next member is asked for."""


def nothing() -> Iterator[bytes]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    kind: MemberKind
    size_bytes: int = 0
    mode: int = 0o644
    modified_s: float = 0.0
    target: str = ""
    """Of a link: as it stands in the archive. Of a hard link: the name of an earlier member."""
    content: Content = nothing
    extents: tuple[Extent, ...] | None = None
    """Of a sparse file: where the bytes of the content go. size_bytes is with its holes."""

    @property
    def data_bytes(self) -> int:
        return self.size_bytes if self.extents is None else sum(length for _, length in self.extents)


def check_members(members: Iterable[Member], archive_bytes: int, bounds: ArchiveBounds) -> Iterator[Member]:
    """The members with plain names, in order. Raises InvalidRequest at the first that is not fit."""
    total = 0
    for count, member in enumerate(members, 1):
        if count > bounds.max_members:
            raise InvalidRequest(f"the archive has more than the {bounds.max_members} members that may be unpacked")
        total += member.data_bytes
        bounds.check(total, archive_bytes)
        if member.size_bytes > bounds.max_bytes:
            raise InvalidRequest(
                f"the archive's {show_name(member.name)} is larger than the {bounds.max_bytes} bytes that may be unpacked"
            )
        if fit := _fit(member):
            yield fit


def _fit(member: Member) -> Member | None:
    """None for the folder itself, which archives often begin with."""
    name = plain_name(member.name)
    if not name:
        return None
    target = member.target
    if member.kind is MemberKind.link:
        _check_link(name, target)
    elif member.kind is MemberKind.hard_link:
        target = plain_name(target)
        if not target or target == name:
            raise InvalidRequest(f"the archive's {show_name(name)} is a second name of nothing")
    return replace(member, name=name, mode=member.mode & 0o777, target=target)


def plain_name(name: str) -> str:
    """Without empty parts and dots. Raises InvalidRequest for a name that would lead out."""
    if name.startswith("/") or "\0" in name or (len(name) > 1 and name[1] == ":" and name[0].isalpha()):
        raise InvalidRequest(f"the archive holds {show_name(name)}: names must be relative")
    if len(name.encode(errors="surrogateescape")) > _NAME_BYTES:
        raise InvalidRequest(f"the archive holds a name of more than {_NAME_BYTES} bytes: {show_name(name)}")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise InvalidRequest(f"the archive holds {show_name(name)}: a name must not hold '..'")
    return "/".join(parts)


def _check_link(name: str, target: str) -> None:
    """A link may lead to what lies in the same folder as the archive's other members, by a relative path."""
    if not target or target.startswith("/") or "\0" in target or len(target.encode(errors="surrogateescape")) > _LINK_BYTES:
        raise InvalidRequest(f"the archive's link {show_name(name)} leads out of the folder: {show_name(target)}")
    depth = name.count("/")
    for part in target.split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            raise InvalidRequest(f"the archive's link {show_name(name)} leads out of the folder: {show_name(target)}")
