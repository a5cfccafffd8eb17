"""What every storage can do, and what follows from it."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.workspace.os_errors import show_name

_KEY_BYTES = 1000
_BATCH_SIZE = 1000
_MAX_ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class StoredObject:
    key: str
    size_bytes: int
    modified_s: float
    etag: str


@dataclass(frozen=True, slots=True)
class S3Options:
    """How to reach a bucket. Defined apart from s3.py, so that settings can be read without the client library."""

    bucket: str
    region: str = "us-east-1"
    access_key_id: str = ""
    """Empty: the client uses the credentials of the machine."""
    secret_access_key: str = field(default="", repr=False)
    endpoint_url: str = ""
    """Empty: the endpoint of the region."""
    public_endpoint_url: str = ""
    """Address of the same endpoint for others, used in presigned URLs. Empty: the same address."""
    prefix: str = ""
    """Prepended to every key, for a shared bucket."""


class Storage(Protocol):
    name: str

    async def put(self, key: str, source: AsyncIterable[bytes]) -> int:
        """How many bytes. Replaces what is there, all at once when the last byte has come; nothing when the source fails."""
        ...

    def get(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        """Raises NotFound before the first piece. Fewer bytes than asked for where there are no more."""
        ...

    async def stat(self, key: str) -> StoredObject:
        """Raises NotFound."""
        ...

    async def list(self, prefix: str, limit: int = _BATCH_SIZE) -> Sequence[StoredObject]:
        """Those whose key begins so, in order."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Those that are not there are no matter."""
        ...

    async def presign(self, key: str, expires_s: int, filename: str = "") -> str | None:
        """An address at which anyone can download it for that long, under that name. None where a storage has no such thing."""
        ...

    async def check(self) -> None:
        """Raises Unavailable where it cannot be used now."""
        ...


def check_key(key: str) -> None:
    """Keys are made by us, but of names that others chose."""
    parts = key.split("/")
    if any(part in ("", ".", "..") or not part.isprintable() or len(part.encode()) > 255 for part in parts):
        raise InvalidRequest(
            f"a key must consist of printable parts of at most 255 bytes, none of them '.' or '..': {show_name(key)}"
        )
    if len(key.encode()) > _KEY_BYTES:
        raise InvalidRequest(f"a key must have at most {_KEY_BYTES} bytes: {show_name(key)}")


async def delete_below(storage: Storage, prefix: str) -> int:
    """All whose key begins so. How many there were."""
    count = 0
    for _ in range(_MAX_ROUNDS):
        found = await storage.list(prefix, _BATCH_SIZE)
        if not found:
            return count
        await storage.delete([stored.key for stored in found])
        count += len(found)
    raise PlatformFault(f"the storage still lists keys below {show_name(prefix)} after {count} were deleted")


async def read_all(storage: Storage, key: str, max_bytes: int) -> bytes:
    found = bytearray()
    async for chunk in storage.get(key):
        found += chunk
        if len(found) > max_bytes:
            raise PlatformFault(f"{show_name(key)} in the storage has more than {max_bytes} bytes")
    return bytes(found)
