"""Temporary servers for `doctor --attack`: on loopback, with new keys, in a folder that is deleted afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandbox_runtime import timestamps
from sandbox_runtime.doctor import Server
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.model import ApiKey
from sandbox_runtime.model.access import hash_key
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.settings import Settings, environment_name, format_value

READY_WITHIN_S = 180.0
END_WITHIN_S = 30.0
_POLL_S = 0.05
_SERVE = ("-c", "from sandbox_runtime.cli.main import main; main()", "serve")
_SHARED_SETTINGS = ("isolation", "guest_python", "toolchains_dir", "box_uid_base")
"""Settings taken from the deployment: how boxes are built, nothing about storage or serving."""
_LIMITS: Mapping[str, Any] = MappingProxyType({"storage_memory_bytes": 512 * MIB, "session_queue": 16, "header_timeout_s": 3.0})
"""Limits that attacks try to exceed: small, so that this is fast and cheap."""
_OWNERS = {"own": ("attack-own", ()), "other": ("attack-other", ()), "read": ("attack-own", ("read",))}


@asynccontextmanager
async def temporary_server(settings: Settings) -> AsyncIterator[Server]:
    """Run a server that requires keys and one that does not, as the deployment would run them."""
    with _folder() as folder:
        keyed = _settings(settings, f"{folder}/keyed", require_keys=True)
        keyless = _settings(settings, f"{folder}/keyless", require_keys=False)
        keys = await _make_keys(keyed)
        async with _process(keyed) as first, _process(keyless) as second:
            await asyncio.gather(_until_ready(first, keyed), _until_ready(second, keyless))
            yield Server(
                url=_url(keyed),
                keys=keys,
                own=True,
                isolation=settings.isolation,
                state_dir=keyed.state_dir,
                keyless_url=_url(keyless),
                limits=_LIMITS,
            )


@contextlib.contextmanager
def _folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="sandbox-attack-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _settings(settings: Settings, state_dir: str, *, require_keys: bool) -> Settings:
    kept = {name: getattr(settings, name) for name in _SHARED_SETTINGS}
    return dataclasses.replace(
        Settings(**kept),
        state_dir=state_dir,
        host="127.0.0.1",
        port=_free_port(),
        require_keys=require_keys,
        check_languages=False,
        pool_size=1,
        started_pool_size=0,
        log_level="error",
        **{name: value for name, value in _LIMITS.items() if hasattr(settings, name)},
    )


def _url(settings: Settings) -> str:
    return f"http://{settings.host}:{settings.port}"


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def _make_keys(settings: Settings) -> dict[str, str]:
    """Create a key of each kind and return them by kind."""
    from sandbox_runtime.assembly import build_store_options
    from sandbox_runtime.store import open_store

    Path(settings.state_dir).mkdir(parents=True, exist_ok=True)
    keys = {kind: f"sbx_{secrets.token_urlsafe(32)}" for kind in _OWNERS}
    now_ms = timestamps.now_ms()
    async with open_store(settings.store_url, build_store_options(settings)) as store:
        for kind, (owner, scopes) in _OWNERS.items():
            digest = hash_key(keys[kind])
            await store.keys.add(ApiKey(id=f"key_{kind}", owner=owner, digest=digest, scopes=scopes, created_ms=now_ms))
    return keys


@asynccontextmanager
async def _process(settings: Settings) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the server in its own process during the block."""
    Path(settings.state_dir).mkdir(parents=True, exist_ok=True)
    null = asyncio.subprocess.DEVNULL
    with _log(settings).open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *_SERVE, env=_environment(settings), stdin=null, stdout=output, stderr=output
        )
    try:
        yield process
    finally:
        await _stop(process)


def _log(settings: Settings) -> Path:
    return Path(settings.state_dir) / "server.log"


def _environment(settings: Settings) -> Mapping[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SANDBOX_")}
    default = Settings()
    names = (field.name for field in dataclasses.fields(settings) if field.name != "origin")
    changed = [name for name in names if getattr(settings, name) != getattr(default, name)]
    return {**inherited, **{environment_name(name): format_value(getattr(settings, name)) for name in changed}}


async def _until_ready(process: asyncio.subprocess.Process, settings: Settings) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline and process.returncode is None:
        try:
            _, writer = await asyncio.open_connection(settings.host, settings.port)
        except OSError:
            await asyncio.sleep(_POLL_S)
            continue
        writer.close()
        return
    last = _log(settings).read_text(errors="replace").strip().splitlines()[-1:] or ["it logged nothing"]
    raise Unavailable(f"the temporary server did not start: {last[0]}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), END_WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
