"""A server that is killed leaves nothing behind for longer than a few seconds."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.isolation.kernel.cgroup_helpers import SOURCE

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.kernel.cgroup import tree
from sandbox_runtime.isolation.watchdog import CrashWatchdog

SERVER = """
import json, os, signal, subprocess, sys, time
from sandbox_runtime.isolation.watchdog import CrashWatchdog
from sandbox_runtime.isolation.kernel.cgroup.root import open_cgroup_root

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup would have us ignore it

def sleeper():
    return subprocess.Popen(["sleep", "300"], start_new_session=True, stdout=subprocess.DEVNULL)

root = open_cgroup_root("fake")
watchdog = CrashWatchdog()
watchdog.watch_cgroup_root(root)
watchdog.start()
boxed, loose, forgotten = sleeper(), sleeper(), sleeper()
group = root.open_group("command", freezable=bool(os.environ.get("PAUSED")))
group.add(boxed.pid)
if os.environ.get("PAUSED") and root.freezer:
    group.freeze()
watchdog.watch_process(loose.pid)
watchdog.watch_process(forgotten.pid)
watchdog.forget_process(forgotten.pid)
for folder in sys.argv[1:]:
    watchdog.watch_folder(folder)
watchdog.forget_folder(sys.argv[-1])
stray = os.fork() if os.environ.get("STRAY") else 0
if os.environ.get("STRAY") and not stray:
    time.sleep(300)
facts = dict(directories=root.directories, boxed=boxed.pid, loose=loose.pid, forgotten=forgotten.pid, stray=stray)
print(json.dumps(facts | {"watchdog": watchdog.pid}), flush=True)
time.sleep(300)
"""


@dataclass
class Server:
    process: subprocess.Popen[str]
    directories: list[str]
    boxed: int
    loose: int
    forgotten: int
    stray: int
    watchdog: int


@contextlib.contextmanager
def server(*folders: Path, **environment: str) -> Iterator[Server]:
    command = [sys.executable, "-c", SERVER, *map(str, folders)]
    env = {"PYTHONPATH": SOURCE, "PATH": os.environ["PATH"], **environment}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=env)
    assert process.stdout
    facts = Server(process, **json.loads(process.stdout.readline()))
    try:
        yield facts
    finally:
        for pid in (process.pid, facts.stray, facts.forgotten, facts.boxed):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL) if pid else None
        process.wait(10)
        process.stdout.close()


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """One that is watched, one that was watched and forgotten."""
    for name in ("watched", "forgotten"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep/file").write_text("")
    return tmp_path / "watched", tmp_path / "forgotten"


def soon(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def is_dead(pid: int) -> bool:
    return tree.start_time(pid) is None


def is_clean(facts: Server, watched: Path) -> bool:
    """Where this host has no cgroups for us, nothing but the cgroup's own process may be left."""
    gone = not any(Path(path).exists() for path in [*facts.directories, watched])
    boxed_is_dead = is_dead(facts.boxed) or not facts.directories
    return gone and boxed_is_dead and is_dead(facts.loose) and is_dead(facts.watchdog)


def test_kill_minus_9_of_the_server_leaves_no_process_cgroup_or_folder(folders: tuple[Path, Path]) -> None:
    with server(*folders) as facts:
        facts.process.kill()
        facts.process.wait(10)
        assert soon(lambda: is_clean(facts, folders[0]))
        assert (folders[1] / "deep/file").exists()
        assert not is_dead(facts.forgotten)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_signals_to_the_server_s_group_and_to_the_watchdog_do_not_end_it(
    folders: tuple[Path, Path], number: signal.Signals
) -> None:
    with server(*folders) as facts:
        os.kill(facts.watchdog, number)
        os.killpg(facts.process.pid, number)
        facts.process.wait(10)
        assert soon(lambda: is_clean(facts, folders[0]))


def test_what_was_paused_dies_with_its_server_too(folders: tuple[Path, Path]) -> None:
    with server(*folders, PAUSED="1") as facts:
        facts.process.kill()
        facts.process.wait(10)
        assert soon(lambda: is_clean(facts, folders[0]))


def test_a_stray_copy_of_the_socket_does_not_keep_a_dead_server_s_things(folders: tuple[Path, Path]) -> None:
    with server(*folders, STRAY="1") as facts:
        facts.process.kill()
        facts.process.wait(10)
        assert soon(lambda: is_clean(facts, folders[0]))
        assert not is_dead(facts.stray)


def test_an_orderly_end_removes_what_is_still_watched(folders: tuple[Path, Path]) -> None:
    watchdog = CrashWatchdog()
    watchdog.watch_folder(str(folders[0]))
    watchdog.start()
    assert watchdog.close()
    assert not folders[0].exists()
    assert watchdog.close()


def test_a_killed_watchdog_is_replaced_and_its_list_is_kept(folders: tuple[Path, Path]) -> None:
    watchdog = CrashWatchdog()
    watchdog.start()
    watchdog.watch_folder(str(folders[0]))
    for restart in (watchdog.restart_if_dead, lambda: watchdog.watch_folder(str(folders[1]))):
        first = watchdog.pid
        os.kill(first or 0, signal.SIGKILL)
        assert soon(lambda pid=first: is_dead(pid))  # type: ignore[misc]
        restart()
        assert watchdog.pid != first
    assert folders[0].exists()
    assert watchdog.close()
    assert not folders[0].exists() and not folders[1].exists()


def test_a_watchdog_that_cannot_start_is_the_platform_s_fault() -> None:
    for python in ("/bin/false", "/does/not/exist"):
        with pytest.raises(PlatformFault, match="watchdog"):
            CrashWatchdog(python).start()


def test_what_cannot_be_removed_is_said(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    watchdog = CrashWatchdog()
    watchdog.start()
    watchdog.watch_folder(str(tmp_path / "link"))
    assert not watchdog.close()
