"""Servers in this process for attacks of the scenario `client`, so that tests can disable their guards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.api.keys import new_key
from tests.api.servers import listening

from sandbox_runtime.doctor import Server
from sandbox_runtime.settings import Settings

LIMITS = {"storage_memory_bytes": 512 * 1024**2, "session_queue": 16, "header_timeout_s": 3.0}
"""As doctor's own servers have them, as far as the settings are there."""


@asynccontextmanager
async def attacked_server(folder: Path, isolation: str, overrides: Mapping[str, Any]) -> AsyncIterator[Server]:
    """A server with keys and one without, as `doctor --attack` has them."""

    def settings(name: str, **more: Any) -> Settings:
        common = {"isolation": isolation, "check_languages": False, "pool_size": 1, "started_pool_size": 0}
        return Settings(state_dir=str(folder / name), log_level="error", **{**common, **more, **overrides})

    keyed, keyless = settings("keyed", require_keys=True), settings("keyless")
    async with listening(keyed, sessions=True) as first, listening(keyless, sessions=True) as second:
        headers = {
            "own": await new_key(first.platform, "attack-own"),
            "other": await new_key(first.platform, "attack-other"),
            "read": await new_key(first.platform, "attack-own", "read"),
        }
        keys = {kind: header["Authorization"].removeprefix("Bearer ") for kind, header in headers.items()}
        yield Server(
            url=first.url,
            keys=keys,
            own=True,
            isolation=isolation,
            state_dir=keyed.state_dir,
            keyless_url=second.url,
            limits=LIMITS,
        )
