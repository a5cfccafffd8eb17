"""From the key that a request shows to the caller. Keys of the store are remembered for a moment, so that most requests cost no
look into the database; one that is revoked opens nothing after that moment."""

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

REMEMBERED_S = 2.0
NOTED_EVERY_S = 60.0
_MOST_REMEMBERED = 4096
_LONGEST_KEY = 512


class Keys(Protocol):
    """What of the store is needed."""

    def find_by_digest(self, digest: str) -> Awaitable[ApiKey | None]: ...
    def record_use(self, uses: Mapping[str, int]) -> Awaitable[None]: ...


class Keyring:
    """operator: the key of the settings, empty where there is none."""

    def __init__(self, operator: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._operator = operator.encode()
        self._clock = clock
        self._seen: OrderedDict[str, tuple[float, Caller | None]] = OrderedDict()
        self._noted: dict[str, float] = {}

    async def caller(self, given: bytes, keys: Keys | None) -> Caller | None:
        """None: that key opens nothing. keys: None where there is no store."""
        if self._operator and hmac.compare_digest(given, self._operator):
            return OPERATOR
        if keys is None or not 0 < len(given) <= _LONGEST_KEY:
            return None
        digest = hash_key(given.decode("latin-1"))
        now = self._clock()
        until, caller = self._seen.get(digest, (0.0, None))
        if now >= until:
            caller = await self._looked_up(digest, keys)
            self._remember(digest, now + REMEMBERED_S, caller)
        return caller

    async def _looked_up(self, digest: str, keys: Keys) -> Caller | None:
        found, now_ms = await keys.find_by_digest(digest), timestamps.now_ms()
        if found is None or not found.is_valid(now_ms):
            return None
        if self._clock() - self._noted.get(found.id, -NOTED_EVERY_S) >= NOTED_EVERY_S:
            self._note(found.id)
            await keys.record_use({found.id: now_ms})
        return caller_with(found)

    def _note(self, key: str) -> None:
        if len(self._noted) >= _MOST_REMEMBERED:
            self._noted.clear()
        self._noted[key] = self._clock()

    def _remember(self, digest: str, until: float, caller: Caller | None) -> None:
        self._seen[digest] = until, caller
        self._seen.move_to_end(digest)
        while len(self._seen) > _MOST_REMEMBERED:
            self._seen.popitem(last=False)


def caller_with(key: ApiKey) -> Caller:
    grants = parse_grants(key.scopes)
    return Caller("" if grants.admin else key.owner, key.id, grants)


def shown_key(headers: Mapping[bytes, bytes]) -> bytes:
    """As Authorization: Bearer or as X-API-Key; empty where there is none."""
    scheme, _, bearer = headers.get(b"authorization", b"").partition(b" ")
    return bearer.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
