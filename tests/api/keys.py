"""Create keys in the store of a running server."""

from __future__ import annotations

import itertools
import time
from typing import Any

from sandbox_runtime.assembly import Platform
from sandbox_runtime.model import ApiKey
from sandbox_runtime.model.access import hash_key

_numbers = itertools.count()


async def new_key(platform: Platform, owner: str, *scopes: str, **fields: Any) -> dict[str, str]:
    """Return the header that sends the new key."""
    number = next(_numbers)
    secret = f"sbx_{owner}_{number}_secret"
    key = ApiKey(
        id=f"key_{number}", owner=owner, digest=hash_key(secret), scopes=scopes, created_ms=time.time_ns() // 1_000_000, **fields
    )
    await platform.sessions.store.keys.add(key)
    return {"Authorization": f"Bearer {secret}"}
