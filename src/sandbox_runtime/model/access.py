"""Keys that let a caller in. Only a key's digest is ever kept; the key itself is shown once, to the one who asked for it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import bounds

_DIGEST_CHARACTERS = 64


def hash_key(key: str) -> str:
    """Keys are random and long, so a plain digest is as good as a slow one, and quick enough for every request."""
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    id: str
    owner: str
    name: str = ""
    digest: str
    scopes: tuple[str, ...] = ()
    created_ms: int
    updated_ms: int = 0
    expires_ms: int | None = None
    last_used_ms: int | None = None
    revoked_ms: int | None = None
    version: int = 0

    def __post_init__(self) -> None:
        bounds.check_id(self.id, "a key's id", bounds.SHORT_ID_CHARACTERS)
        bounds.check_id(self.owner, "the owner of a key", 128)
        bounds.check_name(self.name, "the name of a key", optional=True)
        bounds.check_count(self.scopes, "scopes", 64)
        for scope in self.scopes:
            bounds.check_id(scope, "a scope", bounds.SHORT_ID_CHARACTERS)
        if len(self.digest) != _DIGEST_CHARACTERS or set(self.digest) - set("0123456789abcdef"):
            raise InvalidRequest("the digest of a key is 64 hexadecimal digits: digest_of(key), never the key itself")

    def is_valid(self, now_ms: int) -> bool:
        return self.revoked_ms is None and (self.expires_ms is None or now_ms < self.expires_ms)
