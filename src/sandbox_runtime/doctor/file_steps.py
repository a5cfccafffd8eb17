"""The steps that a `files` attack applies to the files of a box from outside.

A [[step]] of attack.toml:

    do          list, read, download, archive, unpack, upload, delete, move, save, restore or copy
    name        the file or folder to use; "" is the workspace
    target      for move: the new name
    form        for archive: tar.gz or zip; for unpack: tar, tar.gz or zip
    content     for upload: what is written; for read and download: what must be read
    refused     it must be refused; otherwise it may be refused only while a program runs alongside
    refusable   it may be refused, or done within the limits
    max_bytes   how much may be read, stored or written on the host (space used, not the size that a file claims)
    members     for unpack: what the archive contains (see Member)

save stores a snapshot of the workspace; restore fills a new box from the snapshot, copy from the box itself.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ACTIONS = ("list", "read", "download", "archive", "unpack", "upload", "delete", "move", "save", "restore", "copy")
_SYMLINK_MODE = 0o120777


@dataclass(frozen=True, slots=True)
class Member:
    """An archive member.

    kind: file, folder, link, hard_link, device or fifo.
    target: of links.
    zeros: number of zero bytes appended to the content.
    repeat: number of members; {n} in the name is replaced by a number.
    claims: the size in the tar header, if not the real one.
    """

    name: str
    kind: str = "file"
    content: str = ""
    target: str = ""
    zeros: int = 0
    repeat: int = 1
    claims: int = -1

    @property
    def data(self) -> bytes:
        return self.content.encode() + bytes(self.zeros)

    def names(self) -> Iterator[str]:
        for number in range(self.repeat):
            yield self.name.replace("{n}", str(number))


@dataclass(frozen=True, slots=True)
class Step:
    do: str
    name: str = ""
    target: str = ""
    form: str = "tar.gz"
    content: str = ""
    refused: bool = False
    refusable: bool = False
    max_bytes: int | None = None
    members: tuple[Member, ...] = ()


def read_step(row: dict[str, Any]) -> Step:
    step = Step(**{**row, "members": tuple(Member(**member) for member in row.get("members", ()))})
    if step.do not in ACTIONS:
        raise ValueError(f"unknown step {step.do!r}; use one of {', '.join(ACTIONS)}")
    return step


def build_archive(step: Step) -> bytes:
    """Return the archive of an unpack step."""
    buffer = io.BytesIO()
    if step.form == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in step.members:
                _zip(archive, member)
        return buffer.getvalue()
    with tarfile.open(fileobj=buffer, mode="w:gz" if step.form == "tar.gz" else "w") as tar:
        for member in step.members:
            _tar(tar, member)
    return buffer.getvalue()


_TAR_KINDS = {
    "file": tarfile.REGTYPE,
    "folder": tarfile.DIRTYPE,
    "link": tarfile.SYMTYPE,
    "hard_link": tarfile.LNKTYPE,
    "device": tarfile.CHRTYPE,
    "fifo": tarfile.FIFOTYPE,
}


def _tar(archive: tarfile.TarFile, member: Member) -> None:
    for name in member.names():
        info = tarfile.TarInfo(name)
        info.type, info.linkname = _TAR_KINDS[member.kind], member.target
        info.size = len(member.data) if member.kind == "file" else 0
        if member.claims >= 0:
            _claim(archive, info, member.claims)
        else:
            archive.addfile(info, io.BytesIO(member.data))


def _claim(archive: tarfile.TarFile, info: tarfile.TarInfo, size: int) -> None:
    """Write only a header, with a size but no data."""
    info.size = size
    if archive.fileobj is not None:
        archive.fileobj.write(info.tobuf(tarfile.GNU_FORMAT))


def _zip(archive: zipfile.ZipFile, member: Member) -> None:
    for name in member.names():
        info = zipfile.ZipInfo(f"{name}/" if member.kind == "folder" else name)
        info.create_system, info.compress_type = 3, zipfile.ZIP_DEFLATED
        if member.kind == "link":
            info.external_attr = _SYMLINK_MODE << 16
        archive.writestr(info, member.target.encode() if member.kind == "link" else member.data)
