"""Faults of the platform are reported as such, missing features are reported with a fix, and killed processes leave nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import skip_where_the_host_lacks
from tests.isolation.box_helpers import RecordingSink, open_box, run, shell
from tests.isolation.kernel.cgroup_helpers import SOURCE
from tests.isolation.leftovers import first_process, groups_of, has_ended, mounts_below, spawners_of, start_time

from sandbox_runtime.errors import InvalidRequest, PlatformFault, SandboxError
from sandbox_runtime.isolation import command_run as running_module
from sandbox_runtime.isolation.backends import NAMES, open_backend
from sandbox_runtime.isolation.kernel.reaper import descendants
from sandbox_runtime.isolation.options import BackendOptions, Preset
from sandbox_runtime.isolation.port import Backend, Box, RunningCommand
from sandbox_runtime.model import Blame, Ending, Outcome, Policy

pytestmark = pytest.mark.asyncio(loop_scope="session")

GONE_WITHIN_S = 100.0
BARE = Policy(preset="bare")
SERVER = """
import asyncio, os, sys
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import BackendOptions, Preset
from sandbox_runtime.model import Command, Limits, Policy

async def main(name, python, state_dir):
    options = BackendOptions(guest_python=python, state_dir=state_dir, presets={"bare": Preset()})
    async with open_backend(name, options) as backend:
        boxes = [await backend.open(Policy(preset="bare")) for _ in range(5)]
        script = "trap '' TERM HUP INT; (setsid bash -c 'trap \\"\\" HUP; sleep 300' &); while true; do sleep 0.1; done"
        running = [await box.start(Command(("bash", "-c", script), limits=Limits(wall_s=600))) for box in boxes]
        await asyncio.sleep(0.3)
        print("busy", flush=True)
        await asyncio.sleep(600)

asyncio.run(main(*sys.argv[1:]))
"""
PROBE = """
import asyncio, json, sys
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.isolation.backends import open_backend
from sandbox_runtime.isolation.options import BackendOptions, Preset
from sandbox_runtime.model import Command, Policy

async def main(name, python, state_dir):
    options = BackendOptions(guest_python=python, state_dir=state_dir, presets={"bare": Preset()})
    async with open_backend(name, options) as backend:
        box = await backend.open(Policy(preset="bare"))
        return str((await box.run(Command(("true",)))).ending)

try:
    print(json.dumps(["ran", asyncio.run(main(*sys.argv[1:]))]))
except SandboxError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""
WITHOUT_USER_NAMESPACES = """
import ctypes, os, sys
from pathlib import Path
user, group = os.geteuid(), os.getegid()
if ctypes.CDLL(None).unshare(0x10000000):
    sys.exit("no user namespace")
Path("/proc/self/setgroups").write_text("deny")
Path("/proc/self/uid_map").write_text(f"12345 {user} 1")
Path("/proc/self/gid_map").write_text(f"12345 {group} 1")
Path("/proc/sys/user/max_user_namespaces").write_text("0")
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""


@pytest.fixture
def bare_options(options: BackendOptions, tmp_path: Path) -> BackendOptions:
    return BackendOptions(guest_python=options.guest_python, state_dir=str(tmp_path / "state"), presets={"bare": Preset()})


@pytest_asyncio.fixture(loop_scope="session")
async def own(bare_options: BackendOptions) -> AsyncIterator[Backend]:
    """A namespaces backend that may be broken."""
    skip_where_the_host_lacks("namespaces")
    async with open_backend("namespaces", bare_options) as backend:
        yield backend


async def sleeping_in(box: Box) -> RunningCommand:
    seen = RecordingSink()
    running = await box.start(shell("echo begun; sleep 300"), sink=seen)
    await seen.until(b"begun")
    return running


def is_lost(outcome: object) -> bool:
    facts = (getattr(outcome, "ending", None), getattr(outcome, "blame", None), getattr(outcome, "exit_code", None))
    return facts == (Ending.lost, Blame.platform, None) and "fault of the platform" in getattr(outcome, "message", "")


async def test_when_the_spawner_dies_its_commands_are_lost_and_the_next_box_opens(own: Backend) -> None:
    async with open_box(own, BARE) as one, open_box(own, BARE) as two, open_box(own, BARE) as idle:
        running = [await sleeping_in(box) for box in (one, two)]
        (spawner,) = spawners_of(own)
        os.kill(spawner, signal.SIGKILL)
        outcomes = await asyncio.wait_for(asyncio.gather(*(command.wait() for command in running)), 20)
        assert all(is_lost(outcome) and outcome.stdout.text == "begun\n" for outcome in outcomes)
        with contextlib.suppress(SandboxError):
            assert is_lost(await idle.run(shell("true")))
    assert (await run_bare(own)).ok


async def run_bare(backend: Backend) -> Outcome:
    async with open_box(backend, BARE) as box:
        return await box.run(shell("echo next"))


async def test_a_box_opens_although_the_spawner_died_a_moment_ago(own: Backend) -> None:
    (spawner,) = spawners_of(own)
    os.kill(spawner, signal.SIGKILL)
    assert (await run_bare(own)).ok  # nobody has looked at the dead one's socket yet
    (again,) = spawners_of(own)
    assert again != spawner


async def test_many_at_once_survive_the_death_of_the_spawner(own: Backend) -> None:
    """Each run succeeds or reports a platform fault; the backend keeps working."""
    pending = [asyncio.ensure_future(run_bare(own)) for _ in range(10)]
    await asyncio.sleep(0.005)
    for spawner in spawners_of(own):
        os.kill(spawner, signal.SIGKILL)
    ended = await asyncio.wait_for(asyncio.gather(*pending, return_exceptions=True), 30)
    assert all(isinstance(end, PlatformFault) or is_lost(end) or getattr(end, "ok", False) for end in ended)
    assert (await run_bare(own)).ok


async def test_when_the_first_process_of_a_box_dies_only_its_command_is_lost(backend: Backend) -> None:
    async with open_box(backend) as other:
        bystander = await sleeping_in(other)
        async with open_box(backend) as box:
            running = await sleeping_in(box)
            os.kill(first_process(box), signal.SIGKILL)
            outcome = await asyncio.wait_for(running.wait(), 20)
            assert is_lost(outcome) and outcome.stdout.text == "begun\n"
        bystander.cancel()
        assert (await bystander.wait()).ending is Ending.cancelled
    assert (await run(backend, shell("true"))).ok


async def test_a_first_process_that_hangs_is_killed_with_its_box(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_module, "KILL_GRACE_S", 0.3)
    async with open_box(backend) as box:
        running = await box.start(shell("echo begun; sleep 300", wall_s=0.3))
        os.kill(first_process(box), signal.SIGSTOP)
        outcome = await asyncio.wait_for(running.wait(), 20)
        assert outcome.ending is Ending.timed_out


@contextlib.contextmanager
def busy_server(name: str, options: BackendOptions) -> Iterator[int]:
    """A server process with five busy boxes."""
    environment = {"PYTHONPATH": SOURCE, "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", SERVER, name, options.guest_python, options.state_dir]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stdout and process.stdout.readline() == "busy\n"
        yield process.pid
    finally:
        process.kill()
        process.wait(10)
        if process.stdout:
            process.stdout.close()


@pytest.mark.parametrize("name", NAMES)
async def test_a_server_killed_with_busy_boxes_leaves_nothing_behind(name: str, bare_options: BackendOptions) -> None:
    skip_where_the_host_lacks(name)
    with busy_server(name, bare_options) as server:
        processes = {pid: start_time(pid) for pid in (server, *descendants(server))}
        assert len(processes) >= 12 and boxed_by_groups(server)
        os.kill(server, signal.SIGKILL)
        await until(lambda: all(has_ended(pid, start) for pid, start in processes.items() if pid != server))
    await until(lambda: not groups_of(server))
    assert mounts_below(bare_options.state_dir) == ()
    assert boxes_left(bare_options.state_dir) == []


def boxed_by_groups(server: int) -> bool:
    """Either there are five groups to look for later on, or this user has none to make."""
    return len(groups_of(server)) > 5 or os.geteuid() != 0


async def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + GONE_WITHIN_S
    while not holds():
        assert time.monotonic() < deadline, "something is left"
        await asyncio.sleep(0.05)


def boxes_left(state_dir: str) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return os.listdir(f"{state_dir}/boxes")
    return []


def probe(arguments: list[str], *, around: list[str]) -> list[str]:
    """The result of opening one box in a separate process that was prepared first."""
    environment = {"PYTHONPATH": SOURCE, "PATH": os.environ["PATH"]}
    answer = subprocess.run([*around, *arguments], env=environment, capture_output=True, text=True, timeout=60)
    assert answer.stdout, answer.stderr
    found: list[str] = json.loads(answer.stdout)
    return found


@pytest.mark.parametrize("name", ["namespaces", "bubblewrap"])
async def test_without_user_namespaces_a_plain_user_is_told_how_to_get_them(name: str, bare_options: BackendOptions) -> None:
    skip_where_the_host_lacks(name)
    os.makedirs(bare_options.state_dir)
    around = [sys.executable, "-c", WITHOUT_USER_NAMESPACES]
    kind, text = probe([PROBE, name, bare_options.guest_python, bare_options.state_dir], around=around)
    assert kind == "Unavailable" and "user.max_user_namespaces" in text


@pytest.mark.parametrize("room", ["size=64k,nr_inodes=2", "size=64k"])
@pytest.mark.parametrize("name", NAMES)
async def test_a_full_disk_is_told_and_not_waited_for(name: str, room: str, bare_options: BackendOptions, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root to mount a small file system")
    skip_where_the_host_lacks(name)
    small = tmp_path / "small"
    small.mkdir()
    fill = f'mount -t tmpfs -o {room} tmpfs {small} && head -c 1M /dev/zero > {small}/fill; exec "$@"'
    around = ["unshare", "-m", "sh", "-c", fill, "-", sys.executable, "-c"]
    kind, text = probe([PROBE, name, bare_options.guest_python, f"{small}/state"], around=around)
    if kind == "ran":  # folders alone take no room; only where no file can be made either must it fail
        assert (text, room) == ("exited", "size=64k")
    else:
        assert kind in ("Unavailable", "PlatformFault") and "No space left on device" in text and f"{small}/state" in text


@pytest.mark.parametrize("name", NAMES)
async def test_a_state_folder_that_cannot_be_one_is_told(name: str, options: BackendOptions, tmp_path: Path) -> None:
    skip_where_the_host_lacks(name)
    (tmp_path / "file").write_text("")
    wrong = BackendOptions(guest_python=options.guest_python, state_dir=f"{tmp_path}/file", presets={"bare": Preset()})
    with pytest.raises(SandboxError, match=f"{tmp_path}/file"):
        async with open_backend(name, wrong) as backend:
            await run_bare(backend)


@pytest.mark.parametrize("name", NAMES)
async def test_a_guest_interpreter_that_is_none_is_told(name: str, state_dir: str) -> None:
    for wrong in ("/no/such/python", "/bin/true", "/etc/passwd"):
        with pytest.raises(SandboxError, match=wrong):
            async with open_backend(name, BackendOptions(guest_python=wrong, state_dir=state_dir)):
                pass


async def test_a_preset_with_a_module_that_is_missing_is_told(options: BackendOptions) -> None:
    skip_where_the_host_lacks("namespaces")
    presets = {"odd": Preset(("json", "no_such_module"))}
    wrong = BackendOptions(guest_python=options.guest_python, state_dir=options.state_dir, presets=presets)
    with pytest.raises(SandboxError, match="no_such_module"):
        async with open_backend("namespaces", wrong):
            pass


async def test_a_preset_nobody_knows_is_told(own: Backend) -> None:
    with pytest.raises(InvalidRequest, match="unknown preset 'std'; available: bare"):
        await own.open(Policy(preset="std"))
