"""The writable area of a box, where a name lies in it, and how much may go in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.job import check_file_name

if TYPE_CHECKING:
    from sandbox_runtime.model import File


class Area(Protocol):
    """What of a box its files need: see the isolation port for what each attribute means."""

    @property
    def files_fd(self) -> int: ...
    @property
    def writable(self) -> Mapping[str, str]: ...
    @property
    def workdir(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Quotas:
    """Bounds on the files of one request, each way."""

    max_files: int
    max_file_bytes: int
    max_total_bytes: int

    def check(self, files: Sequence[File]) -> None:
        if len(files) > self.max_files:
            raise InvalidRequest(f"{len(files)} files are more than the {self.max_files} that one request may bring")
        for file in files:
            if (size := len(file.content)) > self.max_file_bytes:
                raise InvalidRequest(f"file {file.name!r} has {size} bytes; at most {self.max_file_bytes} are allowed")
        total = sum(len(file.content) for file in files)
        if total > self.max_total_bytes:
            raise InvalidRequest(f"the files have {total} bytes together; at most {self.max_total_bytes} are allowed")


def resolve(area: Area, name: str) -> str:
    """Where a file lies below files_fd. Pure: says nothing about what is there."""
    check_file_name(name)
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest(f"a file name must be valid Unicode: {name!r}") from error
    folder = _folder_of(area, name) if name.startswith("/") else area.workdir
    rest = name[len(folder) :] if name.startswith("/") else name
    parts = [part for part in (*area.writable[folder].split("/"), *rest.split("/")) if part not in ("", ".")]
    if not any(part not in ("", ".") for part in rest.split("/")):
        raise InvalidRequest(f"{name!r} names a folder, not a file")
    return "/".join(parts)


def resolve_folder(area: Area, name: str) -> str:
    """Where a folder lies below files_fd. No name, or a dot, is the workspace; a writable folder may be named itself."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts and not name.startswith("/"):
        return area.writable[area.workdir]
    plain = ("/" if name.startswith("/") else "") + "/".join(parts)
    if plain in area.writable:
        return area.writable[plain]
    return resolve(area, plain)


def _folder_of(area: Area, name: str) -> str:
    """The innermost writable folder that holds an absolute name."""
    duplicate_area = [folder for folder in area.writable if name.startswith(folder.rstrip("/") + "/")]
    if not duplicate_area:
        known = ", ".join(sorted(area.writable))
        raise InvalidRequest(f"{name!r} lies outside the folders that a program can write: {known}; or use a relative name")
    return max(duplicate_area, key=len)
