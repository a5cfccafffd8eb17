"""`sandbox serve` as a child process, on a free port of the loopback."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sandbox_runtime.errors import PlatformFault, SandboxError, Unavailable
from sandbox_runtime.perf.http_client import Answer, Target, connect
from sandbox_runtime.settings import Settings, all_settings, environment_name, format_value

READY_WITHIN_S = 120.0
SETTLE_WITHIN_S = 10.0
END_WITHIN_S = 40.0
_PAUSE_S = 0.005
_COMPLAINT_CHARACTERS = 600
_SERVE = "from sandbox_runtime.cli.main import main; main()"


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    pid: int
    state_dir: str
    pool_size: int

    async def health(self) -> dict[str, Any]:
        answer = await _get(self.url, "/health")
        found: dict[str, Any] = json.loads(answer.body)
        return found

    async def settle(self) -> None:
        """Until its pool is full again and nothing runs."""
        async with asyncio.timeout(SETTLE_WITHIN_S):
            while not self._settled(await self.health()):
                await asyncio.sleep(_PAUSE_S)

    def _settled(self, health: Mapping[str, Any]) -> bool:
        return bool(health["boxes"]["idle"] >= self.pool_size and health["boxes"]["in_use"] == 0)


@asynccontextmanager
async def serving(settings: Settings, **changes: object) -> AsyncIterator[Server]:
    """With these settings but for the changes. Ended, and its folder removed, on the way out."""
    with TemporaryDirectory(prefix="sandbox-bench-") as folder:
        Path(folder).chmod(0o755)
        port, state_dir = _free_port(), f"{folder}/state"
        own = {
            "host": "127.0.0.1",
            "port": port,
            "state_dir": state_dir,
            "api_key": "",
            "log_level": "warning",
            "check_languages": False,
        }
        environment = _environment(settings, {**own, **changes})
        with Path(folder, "log").open("w+b") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-c", _SERVE, "serve", env=environment, stdout=log, stderr=log, start_new_session=True
            )
            try:
                server = Server(f"http://127.0.0.1:{port}", process.pid, state_dir, settings.pool_size)
                await _ready(server, process, Path(folder, "log"))
                yield server
            finally:
                await _end(process)


async def _ready(server: Server, process: asyncio.subprocess.Process, log: Path) -> None:
    try:
        async with asyncio.timeout(READY_WITHIN_S):
            while not await _answers(server):
                if process.returncode is not None:
                    raise Unavailable(f"the server did not start: {_tail(log)}")
                await asyncio.sleep(_PAUSE_S)
    except TimeoutError as error:
        raise PlatformFault(f"the server did not answer within {READY_WITHIN_S:g} s: {_tail(log)}") from error


async def _answers(server: Server) -> bool:
    try:
        return (await _get(server.url, "/v1/ping")).status == 200
    except SandboxError:
        return False


async def _get(url: str, path: str) -> Answer:
    target = Target.of(url, path)
    connection = await connect(target)
    try:
        return await connection.ask(target.get())
    finally:
        connection.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(END_WITHIN_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _environment(settings: Settings, changes: Mapping[str, object]) -> dict[str, str]:
    """Every setting by its environment name, so that no settings file can change the child's."""
    values = {name: changes.get(name, getattr(settings, name)) for name in all_settings()}
    passed = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "PYTHONPATH", "TMPDIR") if name in os.environ}
    return passed | {environment_name(name): format_value(value) for name, value in values.items()}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _tail(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-_COMPLAINT_CHARACTERS:] or "it said nothing"
