"""Storage of sessions: holes are free, the total is bounded, and deleted files are released."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from sandbox_runtime.errors import QuotaExceeded, StorageFull
from sandbox_runtime.isolation.images import DiskImages
from sandbox_runtime.model import Ending, ExecutionState, Medium, Resources, SessionMode, StorageKind
from sandbox_runtime.quantities import GIB, MIB
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec

SPARSE = "for n in range(8):\n    with open(f'/workspace/{n}', 'wb') as file: file.truncate(250 * 2**20)"
GROWING = """
import time
with open("/workspace/x", "wb") as file:
    file.write(bytes(80 * 2**20))
    while True:
        file.write(bytes(2**16))
        file.flush()
        time.sleep(0.05)
"""
PRINT_BLOCKS = "import os; v = os.statvfs('/workspace'); print(v.f_blocks * v.f_frsize)"
DISK = Resources(disk_bytes=GIB)

on_disk = pytest.mark.skipif(
    bool(DiskImages("/nowhere", 0).unavailable_reason),
    reason=f"areas on the disk: {DiskImages('/nowhere', 0).unavailable_reason}",
)


def loops() -> set[str]:
    """Return the loop devices that are attached to a file."""
    return {path.parent.parent.name for path in Path("/sys/block").glob("loop*/loop/backing_file")}


def write(mib: int, name: str = "x") -> ExecutionSpec:
    return ExecutionSpec(code=f"with open('/workspace/{name}', 'wb') as f:\n    for _ in range({mib}): f.write(b'x' * 2**20)")


def real_bytes(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


async def test_sparse_files_take_no_room_on_the_host_through_a_snapshot(open_server: Any, tmp_path: Path) -> None:
    async with open_server() as platform:
        sessions = platform.sessions
        session = await sessions.create(SessionSpec(mode=SessionMode.persistent, resources=DISK))
        done = await sessions.executions.run(session.id, ExecutionSpec(code=SPARSE))
        assert done.state is ExecutionState.completed, done
        files = tmp_path / "state/store/files"
        assert real_bytes(files / "sessions" / session.id) < MIB
        assert platform.ledger.held(Medium.disk, StorageKind.snapshots) < MIB
        assert platform.ledger.held(Medium.memory) <= 4 * MIB
        forks = await sessions.fork(session.id, 2)
        assert real_bytes(files) < MIB and len(forks) == 2
        assert platform.ledger.held(Medium.memory) <= 12 * MIB


async def test_the_sum_of_what_idle_sessions_hold_in_memory_is_bounded(open_server: Any) -> None:
    async with open_server(storage_memory_bytes=64 * MIB) as platform:
        sessions, ledger = platform.sessions, platform.ledger
        first, second = [await sessions.create(SessionSpec(resources=DISK)) for _ in range(2)]
        await sessions.executions.run(first.id, write(40))
        assert 40 * MIB <= ledger.held(Medium.memory, StorageKind.session_files) <= 44 * MIB
        await sessions.executions.run(second.id, write(40))
        with pytest.raises(StorageFull, match=r"memory for files of this node is full: .* of 64 MiB are held"):
            await sessions.create(SessionSpec())
        with pytest.raises(StorageFull):
            await sessions.executions.run(first.id, write(1, "y"))
        with pytest.raises(StorageFull):
            await (await sessions.files.open(first.id)).write("y", b"y")
        await (await sessions.files.open(first.id)).delete("x")
        await sessions.executions.run(first.id, write(1, "y"))
        await sessions.terminate(second.id)
        assert ledger.held(Medium.memory) <= 8 * MIB
        await sessions.create(SessionSpec())


async def test_what_grows_while_there_is_no_room_is_stopped(open_server: Any) -> None:
    async with open_server(storage_memory_bytes=64 * MIB) as platform:
        sessions = platform.sessions
        session = await sessions.create(SessionSpec(resources=DISK))
        quiet = await sessions.create(SessionSpec())
        waiting = await sessions.executions.submit(quiet.id, ExecutionSpec(code="input()", timeout_s=60))
        done = await sessions.executions.run(session.id, ExecutionSpec(code=GROWING, timeout_s=60))
        assert done.state is not ExecutionState.completed and "no storage is left" in done.error
        await sessions.executions.cancel(waiting.id)


async def test_an_owner_has_a_quota_and_another_owner_goes_on(open_server: Any) -> None:
    async with open_server(storage_memory_bytes=128 * MIB, storage_owner_memory_bytes=32 * MIB) as platform:
        sessions = platform.sessions
        session = await sessions.create(SessionSpec(resources=DISK), "ann")
        await sessions.executions.run(session.id, write(40), owner="ann")
        with pytest.raises(QuotaExceeded, match="you hold"):
            await sessions.create(SessionSpec(), "ann")
        await sessions.create(SessionSpec(), "bob")
        assert platform.ledger.usage(Medium.memory, "bob").owner_bytes == MIB


async def test_what_is_kept_is_counted_again_after_a_restart_and_given_back_when_deleted(open_server: Any) -> None:
    async with open_server() as platform:
        session = await platform.sessions.create(SessionSpec(mode=SessionMode.persistent), "ann")
        await platform.sessions.executions.run(session.id, write(5), owner="ann")
        held = platform.ledger.usage(Medium.disk, "ann").owner_by_kind[StorageKind.snapshots]
        assert 5 * MIB <= held < 6 * MIB
    async with open_server() as platform:
        assert platform.ledger.usage(Medium.disk, "ann").owner_by_kind[StorageKind.snapshots] == held
        assert platform.ledger.held(Medium.memory) == 0
        await platform.sessions.executions.run(session.id, ExecutionSpec(code="open('/workspace/x').close()"), owner="ann")
        assert platform.ledger.held(Medium.memory) >= 5 * MIB
        await platform.sessions.delete(session.id, "ann")
        use = platform.ledger.usage(Medium.disk, "ann")
        assert (use.owner_bytes, platform.ledger.held(Medium.memory)) == (0, 0)


async def test_a_snapshot_that_does_not_fit_is_refused(open_server: Any, tmp_path: Path) -> None:
    async with open_server(storage_disk_bytes=2 * GIB, storage_owner_disk_bytes=4 * MIB) as platform:
        sessions = platform.sessions
        session = await sessions.create(SessionSpec(mode=SessionMode.persistent), "ann")
        done = await sessions.executions.run(session.id, write(8), owner="ann")
        assert done.state is ExecutionState.completed and "its files were not saved" in done.error
        with pytest.raises(QuotaExceeded, match="quota of disk"):
            await sessions.files.save(session.id, "ann")
        assert real_bytes(tmp_path / "state/store/files/sessions") < MIB


async def test_a_session_with_five_gibibytes_of_disk_is_accepted(open_server: Any) -> None:
    async with open_server() as platform:
        session = await platform.sessions.create(SessionSpec(resources=Resources(disk_bytes=5 * GIB)))
        done = await platform.sessions.executions.run(session.id, ExecutionSpec(code=PRINT_BLOCKS))
        assert done.state is ExecutionState.completed and int(done.stdout) >= 5 * GIB


@on_disk
async def test_files_of_a_large_session_are_on_the_disk_and_hold_no_memory(open_server: Any) -> None:
    devices = loops()
    async with open_server(session_memory_files_bytes=16 * MIB) as platform:
        sessions, ledger = platform.sessions, platform.ledger
        session = await sessions.create(SessionSpec(resources=Resources(disk_bytes=64 * MIB)), "ann")
        await sessions.executions.run(session.id, write(40), owner="ann")
        assert ledger.held(Medium.memory) == 0
        assert 40 * MIB <= ledger.usage(Medium.disk, "ann").owner_by_kind[StorageKind.session_files] <= 44 * MIB
        await sessions.executions.run(
            session.id, ExecutionSpec(code="import os; os.unlink('/workspace/x'); os.sync()"), owner="ann"
        )
        assert ledger.usage(Medium.disk, "ann").owner_bytes <= 2 * MIB
        (fork,) = await sessions.fork(session.id, 1, owner="ann")
        assert loops() > devices
        for one in (session, fork):
            await sessions.terminate(one.id, "ann")
        assert ledger.usage(Medium.disk, "ann").owner_bytes == 0
    assert loops() == devices


@on_disk
async def test_the_disk_limit_of_a_session_on_the_disk_holds(open_server: Any) -> None:
    async with open_server(session_memory_files_bytes=16 * MIB) as platform:
        sessions = platform.sessions
        session = await sessions.create(SessionSpec(resources=Resources(disk_bytes=64 * MIB)))
        blocks = await sessions.executions.run(session.id, ExecutionSpec(code=PRINT_BLOCKS))
        assert 64 * MIB <= int(blocks.stdout) <= 72 * MIB
        done = await sessions.executions.run(session.id, write(60))
        assert done.state is ExecutionState.completed, done
        full = await sessions.executions.run(session.id, write(30, "y"))
        assert full.state is ExecutionState.failed and full.ending is Ending.disk_limit
        await (await sessions.files.open(session.id)).delete("y")
        assert (await sessions.executions.run(session.id, write(1, "z"))).state is ExecutionState.completed


@on_disk
async def test_a_persistent_session_on_the_disk_is_kept_with_its_holes(open_server: Any) -> None:
    async with open_server(session_memory_files_bytes=16 * MIB) as platform:
        spec = SessionSpec(mode=SessionMode.persistent, resources=Resources(disk_bytes=2 * GIB))
        session = await platform.sessions.create(spec)
        await platform.sessions.executions.run(session.id, ExecutionSpec(code=SPARSE))
        assert platform.ledger.held(Medium.disk, StorageKind.snapshots) < MIB
    async with open_server(session_memory_files_bytes=16 * MIB) as platform:
        look = "import os; s = os.stat('/workspace/3'); print(s.st_size, s.st_blocks)"
        done = await platform.sessions.executions.run(session.id, ExecutionSpec(code=look))
        assert done.stdout.split() == [str(250 * MIB), "0"]


async def test_forks_and_reopened_sessions_are_charged_before_their_files_are_there(open_server: Any) -> None:
    async with open_server(storage_memory_bytes=64 * MIB) as platform:
        sessions, ledger = platform.sessions, platform.ledger
        session = await sessions.create(SessionSpec(mode=SessionMode.persistent))
        await sessions.executions.run(session.id, write(25))
        with pytest.raises(StorageFull, match="25 MiB more are asked for"):
            await sessions.fork(session.id, 3)
        assert (await sessions.list()).total == 1 and ledger.held(Medium.memory) < 32 * MIB
        await sessions.fork(session.id, 1)
    async with open_server(storage_memory_bytes=16 * MIB) as platform:
        with pytest.raises(StorageFull):
            await platform.sessions.executions.run(session.id, ExecutionSpec(code="1"))
        assert platform.ledger.held(Medium.memory) == 0


KILLED = """
import asyncio, os, signal, sys
from sandbox_runtime.assembly import open_platform
from sandbox_runtime.model import Resources
from sandbox_runtime.sessions import ExecutionSpec, SessionSpec
from sandbox_runtime.settings import Settings

async def main():
    settings = Settings(state_dir=sys.argv[1], log_level="error", check_languages=False, pool_size=0, warm_pool_enabled=False)
    async with open_platform(settings, sessions=True) as platform:
        session = await platform.sessions.create(SessionSpec(resources=Resources(disk_bytes=2 * 2**30)))
        await platform.sessions.executions.run(session.id, ExecutionSpec(code="open('/workspace/x', 'w').write('x')"))
        print("made", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@on_disk
async def test_a_server_that_is_killed_leaves_no_loop_device_and_no_image(tmp_path: Path) -> None:
    devices = loops()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path), stdout=asyncio.subprocess.PIPE)
    printed, _ = await process.communicate()
    assert (printed, process.returncode) == (b"made\n", -signal.SIGKILL)
    async with asyncio.timeout(60):
        while not loops() <= devices:
            await asyncio.sleep(0.1)
    assert list((tmp_path / "areas").iterdir()) == []
