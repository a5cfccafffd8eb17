"""Environments on a real backend, for the tests of environments and handlers."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.engine.environments import Environment, EnvironmentParts, RunRequest, RunResult
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model import ExecutionKind, Limits
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.settings import Settings

LIMITS = Limits(wall_s=30.0, memory_bytes=512 * MIB)


@asynccontextmanager
async def a_platform(state_dir: str, **changes: object) -> AsyncIterator[Platform]:
    skip_where_the_host_lacks("namespaces")
    settings = dataclasses.replace(Settings(state_dir=state_dir, check_languages=False, log_level="error"), **changes)  # type: ignore[arg-type]
    async with open_platform(settings, prewarm=False) as platform:
        yield platform


def work(code: str, kind: ExecutionKind = ExecutionKind.code, **more: object) -> RunRequest:
    return RunRequest(kind=kind, code=code, **{"limits": LIMITS, **more})  # type: ignore[arg-type]


async def run(home: Environment, request: RunRequest, sink: Sink | None = None) -> RunResult:
    return await home.run(home.check(request), sink)


@asynccontextmanager
async def a_home(parts: EnvironmentParts, disk_bytes: int = 64 * MIB) -> AsyncIterator[Environment]:
    home = await Environment.open(parts, disk_bytes, 10_000)
    try:
        yield home
    finally:
        await home.close()
