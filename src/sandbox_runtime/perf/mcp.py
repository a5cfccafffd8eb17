"""The section about MCP: what a call of a tool takes over standard streams, as the official client sees it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from typing import Any

from mcp import Client, StdioServerParameters

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.perf.bench_environment import BenchEnvironment
from sandbox_runtime.perf.bench_plan import TITLES
from sandbox_runtime.perf.rounds import Contender, interleave
from sandbox_runtime.settings import Settings

_COMMAND = "from sandbox_runtime.cli.mcp_sandboxd import main; main()"
_CALM_S = 0.05
_REPEAT = 5


async def mcp(environment: BenchEnvironment) -> None:
    if environment.settings.isolation != "namespaces":
        raise Unavailable("sandboxes need the namespaces backend")
    rounds = environment.effort.session_rounds
    environment.progress.begin(TITLES["mcp"], rounds + 1)
    async with Client(_server(environment.settings)) as client:
        turns = _Turns(client)
        await turns.begin()
        contenders = [
            Contender("mcp_run", "MCP over stdio: run_python", turns.run, _calm, _REPEAT),
            Contender("mcp_create", "MCP over stdio: create_sandbox", turns.create, _calm),
        ]
        environment.report.add(await interleave(contenders, rounds, 1, environment.progress.step))


def _server(settings: Settings) -> StdioServerParameters:
    environment = {**os.environ, "SANDBOX_GUEST_PYTHON": settings.guest_python, "SANDBOX_CHECK_LANGUAGES": "false"}
    arguments = ["-c", _COMMAND, "--tools", "all", "--log-level", "error", "-w", f"{settings.state_dir}/mcp"]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment)


async def _calm() -> None:
    await asyncio.sleep(_CALM_S)


class _Turns:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._sandbox = ""

    async def begin(self) -> None:
        self._sandbox = await self._created()

    async def run(self) -> float:
        begun = time.perf_counter()
        result = await self._call("run_python", {"sandbox_id": self._sandbox, "code": "print(6 * 7)"})
        took_s = time.perf_counter() - begun
        if result["stdout"] != "42\n":
            raise PlatformFault(f"run_python printed {result['stdout'][:100]!r}")
        return took_s

    async def create(self) -> float:
        begun = time.perf_counter()
        made = await self._created()
        took_s = time.perf_counter() - begun
        await self._call("terminate_sandbox", {"sandbox_id": made})
        return took_s

    async def _created(self) -> str:
        return str((await self._call("create_sandbox", {}))["sandbox_id"])

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await self._client.call_tool(tool, arguments)
        if answer.is_error or not isinstance(answer.structured_content, dict):
            raise PlatformFault(f"{tool} failed: {answer.content}"[:500])
        return answer.structured_content
