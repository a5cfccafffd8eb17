"""Many runs of every kind in one server, and what is left of them.

`python -m tests.isolation.soak BACKEND PYTHON STATE_DIR RUNS` prints one JSON object: what was held before and after, how the
runs ended, and how the server's memory grew.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import uvloop
from tests.isolation.box_helpers import command, put_file, shell
from tests.isolation.leftovers import HeldResources, enter_own_mount_namespace, memory_held

from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import BackendOptions
from sandbox_runtime.isolation.port import Backend, Box
from sandbox_runtime.model import Policy
from sandbox_runtime.model.limits import MIB

AT_ONCE = 6
SINGLE = {"single_use": True} if "single_use" in Policy.__dataclass_fields__ else {}
DOUBLE_FORK = "(setsid bash -c 'trap \"\" TERM HUP; sleep 300' &) ; (sleep 300 &); echo forked"
BOMB = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(300)\n"
HOG = "data = bytearray(200 << 20)\nfor n in range(0, len(data), 4096): data[n] = 1\n"

Run = Callable[[Box, str], Awaitable[str]]


def program(source: str, **limits: float) -> Run:
    async def run(box: Box, python: str) -> str:
        put_file(box, "main.py", source.encode())
        return (await box.run(command(python, "main.py", **limits))).ending

    return run


def script(text: str, **limits: float) -> Run:
    async def run(box: Box, python: str) -> str:
        return (await box.run(shell(text, **limits))).ending

    return run


async def cancelled(box: Box, python: str) -> str:
    running = await box.start(shell("while true; do echo more; done", output_bytes=10**9))
    await asyncio.sleep(0.02)
    running.cancel()
    return (await running.wait()).ending


async def caller_gone(box: Box, python: str) -> str:
    task = asyncio.ensure_future(box.run(shell("sleep 300")))
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait([task])
    return "caller gone"


async def closed_while_running(box: Box, python: str) -> str:
    running = await box.start(shell(DOUBLE_FORK + "; sleep 300"), interactive=True)
    running.feed(b"x" * 100_000)
    await asyncio.sleep(0.02)
    await box.close()
    return (await running.wait()).ending


async def never_used(box: Box, python: str) -> str:
    return "never used"


KINDS: tuple[Run, ...] = (
    program("print(sum(range(10)))"),
    program("raise SystemExit(1)"),
    program("import os; os.kill(os.getpid(), 9)"),
    program("import ctypes; ctypes.string_at(0)"),
    program("import threading, time\nthreading.Thread(target=time.sleep, args=(300,)).start()", wall_s=0.2),
    program("while True: pass", cpu_s=0.1),
    program(HOG, memory_bytes=64 * MIB),
    script("exit 3"),
    script("sleep 300", wall_s=0.1),
    script("trap '' TERM; yes", output_bytes=20_000),
    script(DOUBLE_FORK),
    program(BOMB, processes=16),
    script("exec no-such-program"),
    cancelled,
    caller_gone,
    closed_while_running,
    never_used,
)


FIRST_RUNS = 3 * len(KINDS)
"""Not counted: caches fill, the allocator finds its size."""


async def one(backend: Backend, python: str, number: int, endings: Counter[str]) -> None:
    policy = Policy(preset="std", **(SINGLE if number % 2 else {}))
    box = await backend.open(policy)
    try:
        endings[await KINDS[number % len(KINDS)](box, python)] += 1
    finally:
        await box.close()


async def many(backend: Backend, python: str, runs: int) -> Counter[str]:
    endings: Counter[str] = Counter()
    numbers = iter(range(runs))

    async def worker() -> None:
        for number in numbers:
            await one(backend, python, number, endings)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return endings


async def soak(name: str, python: str, state_dir: str, runs: int) -> dict[str, Any]:
    root = enter_own_mount_namespace(state_dir)
    async with open_backend(name, BackendOptions(guest_python=python, state_dir=state_dir)) as backend:
        await many(backend, python, max(FIRST_RUNS, runs // 10))
        before, memory_before = await HeldResources.measure_settled(state_dir, root), memory_held()
        started = time.monotonic()
        endings = await many(backend, python, runs)
        took_s = time.monotonic() - started
        after, memory_after = await HeldResources.measure_settled(state_dir, root, before), memory_held()
    return {
        "before": dataclasses.asdict(before),
        "after": dataclasses.asdict(after),
        "closed": dataclasses.asdict(HeldResources.measure(state_dir, root)),
        "endings": endings,
        "memory_before": memory_before,
        "memory_after": memory_after,
        "took_s": took_s,
    }


if __name__ == "__main__":
    # The loop that the server runs in; the other tests of this room have the standard one.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(soak(*sys.argv[1:4], int(sys.argv[4])))))
