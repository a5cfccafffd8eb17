"""Find the caller that an API key belongs to.

Keys of the store are cached for CACHE_S, so most requests need no query. A revoked key stops working after that time.
"""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from sandbox_runtime import timestamps
from sandbox_runtime.api.caller import OPERATOR, Caller
from sandbox_runtime.model import ApiKey
from sandbox_runtime.model.access import hash_key
from sandbox_runtime.model.grants import parse_grants

CACHE_S = 2.0
RECORD_USE_EVERY_S = 60.0
_MAX_CACHED = 4096
_MAX_KEY_BYTES = 512


class Keys(Protocol):
    """The repository of keys, as far as it is used here."""

    def find_by_digest(self, digest: str) -> Awaitable[ApiKey | None]: ...
    def record_use(self, uses: Mapping[str, int]) -> Awaitable[None]: ...


class Keyring:
    """`operator_key`: the key of the settings; empty if there is none."""

    def __init__(self, operator_key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._operator_key = operator_key.encode()
        self._clock = clock
        self._cache: OrderedDict[str, tuple[float, Caller | None]] = OrderedDict()
        self._use_recorded: dict[str, float] = {}

    async def caller(self, given: bytes, keys: Keys | None) -> Caller | None:
        """Return None if the key is invalid. `keys` is None if the server has no store."""
        if self._operator_key and hmac.compare_digest(given, self._operator_key):
            return OPERATOR
        if keys is None or not 0 < len(given) <= _MAX_KEY_BYTES:
            return None
        digest = hash_key(given.decode("latin-1"))
        now = self._clock()
        until, caller = self._cache.get(digest, (0.0, None))
        if now >= until:
            caller = await self._look_up(digest, keys)
            self._add_to_cache(digest, now + CACHE_S, caller)
        return caller

    async def _look_up(self, digest: str, keys: Keys) -> Caller | None:
        key, now_ms = await keys.find_by_digest(digest), timestamps.now_ms()
        if key is None or not key.is_valid(now_ms):
            return None
        if self._clock() - self._use_recorded.get(key.id, -RECORD_USE_EVERY_S) >= RECORD_USE_EVERY_S:
            self._mark_recorded(key.id)
            await keys.record_use({key.id: now_ms})
        return to_caller(key)

    def _mark_recorded(self, key_id: str) -> None:
        if len(self._use_recorded) >= _MAX_CACHED:
            self._use_recorded.clear()
        self._use_recorded[key_id] = self._clock()

    def _add_to_cache(self, digest: str, until: float, caller: Caller | None) -> None:
        self._cache[digest] = until, caller
        self._cache.move_to_end(digest)
        while len(self._cache) > _MAX_CACHED:
            self._cache.popitem(last=False)


def to_caller(key: ApiKey) -> Caller:
    grants = parse_grants(key.scopes)
    return Caller("" if grants.admin else key.owner, key.id, grants)


def key_from_headers(headers: Mapping[bytes, bytes]) -> bytes:
    """Return the key of Authorization: Bearer or X-API-Key; empty if there is none."""
    scheme, _, bearer = headers.get(b"authorization", b"").partition(b" ")
    return bearer.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
