"""kill -9 at any moment: what was acknowledged is there, and the file is whole."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox_runtime.store import open_store

WRITER = """
import asyncio, sys
from sandbox_runtime.model import Execution, ExecutionState, Session
from sandbox_runtime.store import open_store

async def write(store, worker):
    number = 0
    while True:
        key = f"{sys.argv[2]}-{worker}-{number}"
        made = await store.executions.add(Execution(id=key, session="s", code="x" * 3000, created_ms=1))
        print(key, "pending", flush=True)
        await store.executions.update(made, state=ExecutionState.completed, stdout="y" * 30000)
        print(key, "completed", flush=True)
        number += 1

async def main():
    async with open_store(sys.argv[1]) as store:
        if await store.sessions.find("s") is None:
            await store.sessions.add(Session(id="s", created_ms=1))
        print("ready", flush=True)
        await asyncio.gather(*(write(store, worker) for worker in range(4)))

asyncio.run(main())
"""
ROUNDS = 4


@pytest.mark.slow
async def test_a_killed_writer_loses_nothing_that_it_had_acknowledged(sqlite_url: str, tmp_path: Path) -> None:
    acknowledged: dict[str, str] = {}
    for number in range(ROUNDS):
        acknowledged |= killed_writer(sqlite_url, f"round{number}", tmp_path)
        await check(sqlite_url, tmp_path / "private" / "store.db", acknowledged)
    assert len(acknowledged) > ROUNDS


def killed_writer(url: str, name: str, folder: Path) -> dict[str, str]:
    """What it said it had written (id → state) before it was killed, the last line only when whole."""
    told = folder / f"{name}.txt"
    with told.open("w") as out:
        writer = subprocess.Popen([sys.executable, "-c", WRITER, url, name], stdout=out, stderr=subprocess.PIPE)
    try:
        wait_until_it_writes(told, writer)
        time.sleep(random.uniform(0.05, 0.5))
    finally:
        writer.send_signal(signal.SIGKILL)
        _, errors = writer.communicate(timeout=30)
    assert errors == b""
    lines = told.read_text().splitlines(keepends=True)
    return dict(line.split() for line in lines[1:] if line.endswith("\n"))  # type: ignore[misc]


def wait_until_it_writes(told: Path, writer: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 100
    while "completed" not in told.read_text():
        assert writer.poll() is None and time.monotonic() < deadline, "the writer did not start"
        time.sleep(0.02)


async def check(url: str, file: Path, acknowledged: dict[str, str]) -> None:
    async with open_store(url) as store:
        for key, state in acknowledged.items():
            found = await store.executions.get(key)
            assert len(found.code) == 3000
            assert found.state == state or (state, found.state) == ("pending", "completed")
            assert len(found.stdout) == (30000 if found.state == "completed" else 0)
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
