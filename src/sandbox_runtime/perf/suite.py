"""All sections, one after another. Which of them failed or could not be measured is part of the report."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_runtime.assembly import open_configured_backend, version
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation.guest_interpreter import inspect_interpreter
from sandbox_runtime.perf import machine_facts
from sandbox_runtime.perf.basic import memory, single_and_load
from sandbox_runtime.perf.bench_environment import BenchEnvironment, Progress
from sandbox_runtime.perf.bench_plan import TITLES, BenchPlan
from sandbox_runtime.perf.compiles import compiles
from sandbox_runtime.perf.data import data
from sandbox_runtime.perf.http_client import Target
from sandbox_runtime.perf.judge import judging
from sandbox_runtime.perf.judge_faults import judge_faults
from sandbox_runtime.perf.load_client import open_loader
from sandbox_runtime.perf.mcp import mcp
from sandbox_runtime.perf.notebook import notebook
from sandbox_runtime.perf.overload import crowd
from sandbox_runtime.perf.report import Report
from sandbox_runtime.perf.server_process import serving
from sandbox_runtime.perf.sessions import sessions
from sandbox_runtime.perf.soak import soak
from sandbox_runtime.settings import Settings

Section = Callable[[BenchEnvironment], Awaitable[None]]


async def measure(settings: Settings, effort: BenchPlan, progress: Progress, peer: str | None = None) -> Report:
    """In a state folder of its own, so that a server that runs on this machine is not touched. Raises Unavailable where not even
    a box can be made."""
    if peer:
        Target.of(peer)
    begun = time.perf_counter()
    with TemporaryDirectory(prefix="sandbox-bench-") as folder:
        Path(folder).chmod(0o755)
        own = dataclasses.replace(
            settings,
            state_dir=f"{folder}/state",
            datasets_dir=settings.tables_dir,
            log_level="error",
            check_languages=False,
        )
        async with AsyncExitStack() as stack:
            loader = await stack.enter_async_context(open_loader())
            report = await _blank_report(own, effort)
            cores = report.machine["cores_allowed"]
            environment = BenchEnvironment(
                own, effort, inspect_interpreter(own.guest_python), loader, report, progress, cores, peer
            )
            await _all_sections(environment)
    report.took_s = time.perf_counter() - begun
    report.machine["load_average_after"] = list(os.getloadavg())
    report.machine["idle_after"] = await machine_facts.idle_share()
    return report


async def _blank_report(settings: Settings, effort: BenchPlan) -> Report:
    guest = inspect_interpreter(settings.guest_python)
    facts = machine_facts.facts(guest.python, ".".join(map(str, guest.version)))
    facts["idle_before"] = await machine_facts.idle_share()
    async with open_configured_backend(settings) as backend:
        facts |= machine_facts.isolation(backend)
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    return Report(version(), started_at, facts, dataclasses.asdict(effort))


async def _all_sections(environment: BenchEnvironment) -> None:
    sections = environment.effort.sections
    parts: Mapping[tuple[str, ...], Section] = {
        ("memory",): memory,
        ("single", "load"): single_and_load,
        ("data",): data,
        ("compiles",): compiles,
        ("notebook",): notebook,
        ("sessions",): sessions,
        ("mcp",): mcp,
        ("judge",): judging,
        ("judge-faults",): judge_faults,
        ("crowd",): _crowd,
        ("soak",): _soak,
    }
    for names, section in parts.items():
        if any(name in sections for name in names):
            await _guarded(environment, " and ".join(name for name in names if name in sections), section)


async def _guarded(environment: BenchEnvironment, name: str, section: Section) -> None:
    try:
        await section(environment)
    except Unavailable as error:
        environment.report.skipped[name] = str(error)
    except Exception as error:
        environment.report.failed[name] = f"{type(error).__name__}: {error}"


async def _crowd(environment: BenchEnvironment) -> None:
    effort = environment.effort
    environment.progress.begin(TITLES["crowd"], 1)
    async with serving(environment.settings) as server:
        await environment.wait_until_checked(server)
        environment.report.crowd = found = await crowd(server, environment.loader, effort.crowd_clients, effort.crowd_s)
        await server.settle()
        environment.progress.step()
    if not found.all_right:
        worst = max(found.faults, key=lambda text: found.faults[text])
        environment.report.failed["crowd"] = f"{sum(found.faults.values())} answers were wrong or missing, most often: {worst}"


async def _soak(environment: BenchEnvironment) -> None:
    environment.progress.begin(TITLES["soak"], 1)
    async with serving(environment.settings, pool_max=environment.settings.pool_size) as server:
        await environment.wait_until_checked(server)
        environment.report.soaked = soaked = await soak(server, environment.loader, environment.effort.soak_runs)
        environment.progress.step()
    if soaked.wrong:
        worst = max(soaked.faults, key=lambda text: soaked.faults[text])
        environment.report.failed["soak"] = f"{soaked.wrong} of {soaked.runs} answers were wrong, most often: {worst}"
