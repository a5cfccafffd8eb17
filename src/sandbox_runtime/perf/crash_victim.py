"""A server that will be killed: sessions under load, a line for each result that was acknowledged.

Started as a program of its own by crash.py, with the settings as JSON on its standard input. What it has printed it has been
told by the sessions room; what it has not printed may or may not have happened.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from sandbox_runtime.assembly import open_platform
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import ExecutionKind, SessionMode
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec
from sandbox_runtime.settings import Settings

KEEPSAKE = "keepsake"
"""The persistent session that goes on from one life of the server to the next."""
_WORKERS = 4


def main() -> None:
    settings = Settings(**json.loads(sys.stdin.readline()))
    asyncio.run(_live(settings))


async def _live(settings: Settings) -> None:
    async with open_platform(settings, sessions=True) as platform:
        _say({"ready": True})
        async with asyncio.TaskGroup() as group:
            group.create_task(_remember(platform.sessions))
            for number in range(_WORKERS):
                group.create_task(_churn(platform.sessions, number))


async def _remember(sessions: Sessions) -> None:
    """Each execution adds a line to a file of the persistent session."""
    try:
        await sessions.create(SessionSpec(id=KEEPSAKE, mode=SessionMode.persistent))
    except SandboxError:
        _say({"found": True})
    while True:
        done = await sessions.executions.run(KEEPSAKE, ExecutionSpec(language="bash", code="echo line >> log; wc -l < log"))
        _say({"execution": done.id, "stdout": done.stdout, "lines": int(done.stdout or 0)})


async def _churn(sessions: Sessions, number: int) -> None:
    """Sessions that come and go, with programs, cells and forks in them."""
    turn = 0
    while True:
        session = await sessions.create(SessionSpec())
        for _ in range(5):
            turn += 1
            expected = f"{number} {turn}\n"
            done = await sessions.executions.run(session.id, ExecutionSpec(code=f"print({number}, {turn})"))
            _say({"execution": done.id, "stdout": expected, "right": done.stdout == expected})
        if turn % 10 == 0:
            await _fork(sessions, session.id)
        await sessions.terminate(session.id)


async def _fork(sessions: Sessions, session: str) -> None:
    context = await sessions.contexts.open(session)
    done = await sessions.executions.run(session, ExecutionSpec(kind=ExecutionKind.cell, context=context.id, code="x = 5"))
    (copy,) = await sessions.fork(session)
    more = await sessions.executions.run(copy.id, ExecutionSpec(kind=ExecutionKind.cell, context=context.id, code="print(x)"))
    _say({"execution": more.id, "stdout": "5\n", "right": more.stdout == "5\n" and done.state.ended})
    await sessions.terminate(copy.id)


def _say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
