"""`kill -9` of a server at random moments under load: what of what it had acknowledged is lost, and what is left of it?"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import random
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox_runtime.assembly import open_platform
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.model import ExecutionState
from sandbox_runtime.model.session import LIVE_SESSION_STATES
from sandbox_runtime.perf import processes
from sandbox_runtime.perf.crash_victim import KEEPSAKE
from sandbox_runtime.settings import Settings
from sandbox_runtime.store import ExecutionFilter, SessionFilter, open_store

READY_WITHIN_S = 60.0
CLEAN_WITHIN_S = 30.0
_MIN_WAIT_S, _MAX_WAIT_S = 0.05, 1.5
_PAUSE_S = 0.05


@dataclass(slots=True)
class CrashResult:
    """lost: acknowledged results that the store does not have as they were told. wrong: answers that were not right. left: what
    was still there after a kill. forgotten: lines of the persistent session that were acknowledged and are gone."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    wrong: int = 0
    forgotten: int = 0
    left: dict[str, int] = field(default_factory=dict)
    untrue: int = 0
    """Sessions and executions that are said to live and do not."""

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


async def kill_often(settings: Settings, kills: int, seed: int = 0) -> CrashResult:
    """settings: with a state folder of its own, the same for every life of the server."""
    found, chance = CrashResult(), random.Random(seed)
    lines = 0
    for _ in range(kills):
        reported, pid = await _one_life(settings, chance.uniform(_MIN_WAIT_S, _MAX_WAIT_S))
        found.kills += 1
        await _look(settings, reported, found)
        lines = await _look_at_lines(reported, lines, found)
        for name, count in (await _left(pid, settings.state_dir)).items():
            found.left[name] = found.left.get(name, 0) + count
    await _look_at_states(settings, found)
    return found


async def _one_life(settings: Settings, for_s: float) -> tuple[list[dict[str, Any]], int]:
    """The random moment lies in its life, not before it: the clock starts when it says that it is ready."""
    victim = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sandbox_runtime.perf.crash_victim"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert victim.stdin is not None and victim.stdout is not None
    try:
        victim.stdin.write(json.dumps(_own(settings)).encode() + b"\n")
        await victim.stdin.drain()
        first = await asyncio.wait_for(victim.stdout.readline(), READY_WITHIN_S)
        reading = asyncio.create_task(victim.stdout.read())
        await asyncio.sleep(for_s)
    finally:
        if victim.returncode is None:
            victim.send_signal(signal.SIGKILL)
        await victim.wait()
    text = await asyncio.wait_for(reading, READY_WITHIN_S)
    if not first:
        raise PlatformFault("the server that was to be killed did not come up")
    return [json.loads(line) for line in text.split(b"\n")[:-1]], victim.pid


def _own(settings: Settings) -> dict[str, Any]:
    names = ("state_dir", "node_name", "guest_python", "toolchains_dir", "isolation")
    return {name: getattr(settings, name) for name in names} | {"log_level": "error", "check_languages": False, "pool_size": 1}


async def _look(settings: Settings, reported: list[dict[str, Any]], found: CrashResult) -> None:
    results = [line for line in reported if "execution" in line]
    found.acknowledged += len(results)
    found.wrong += sum(not line.get("right", True) for line in results)
    async with open_store(settings.store_url) as store:
        for line in results:
            row = await store.executions.find(line["execution"])
            found.lost += row is None or not row.state.ended or row.stdout != line["stdout"]


async def _look_at_states(settings: Settings, found: CrashResult) -> None:
    """A last server makes the rows true: what is still said to live is the one session that does."""
    own = dataclasses.replace(settings, **_own(settings))
    async with open_platform(own, prewarm=False, sessions=True) as platform:
        live = await platform.sessions.list(SessionFilter(states=LIVE_SESSION_STATES), limit=1000)
        in_flight = ExecutionFilter(states=(ExecutionState.pending, ExecutionState.running))
        found.untrue = sum(one.id != KEEPSAKE for one in live.items) + (await platform.sessions.executions.list(in_flight)).total


async def _look_at_lines(reported: list[dict[str, Any]], before: int, found: CrashResult) -> int:
    """Whatever was acknowledged is in the file: the first answer of the next life counts from there."""
    counted = [line["lines"] for line in reported if "lines" in line]
    if not counted:
        return before
    found.forgotten += max(0, before + 1 - counted[0])
    return int(counted[-1])


async def _left(pid: int, state_dir: str) -> dict[str, int]:
    deadline = time.monotonic() + CLEAN_WITHIN_S
    while True:
        groups = processes.cgroups_of(pid)
        mounted = sum(state_dir in line for line in Path("/proc/self/mountinfo").read_text().splitlines())
        left = {"processes": len(processes.processes_in(groups)), "cgroups": len(groups), "mounts": mounted}
        if not any(left.values()) or time.monotonic() > deadline:
            return left
        await asyncio.sleep(_PAUSE_S)
