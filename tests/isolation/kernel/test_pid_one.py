"""The first process of a pid namespace that is nothing but that, in its two forms."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.isolation.kernel.fork_helper import in_child

from sandbox_runtime.isolation.kernel import namespaces, pid_one

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes pid namespaces without a user namespace")


def plain() -> pid_one.PidOne:
    made = pid_one.PidOne()
    made._page = None
    return made


REAPED_WITHIN_S = 20.0
KEPT: list[pid_one.PidOne] = []
"""The memory that they run in."""
FORMS = pytest.mark.parametrize("make", [pid_one.PidOne, plain], ids=["clone", "fork"])


def until_reaped(first: int) -> int:
    """How many orphans are still dead and unburied when there was time enough."""
    deadline = time.monotonic() + REAPED_WITHIN_S
    while zombies := [status for status in children_of(first) if "State:\tZ" in status]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    return len(zombies)


@FORMS
def test_orphans_are_reaped_without_anyone_waiting_for_them(make: Callable[[], pid_one.PidOne]) -> None:
    def scene() -> object:
        first = started(make())
        ready, done = os.pipe()
        if os.fork() == 0:  # in the namespace
            for _ in range(20):
                if os.fork() == 0:
                    if os.fork() == 0:
                        os._exit(0)
                    os._exit(0)
                os.wait()
            os.write(done, b".")
            time.sleep(60)
        os.read(ready, 1)
        left = until_reaped(first)
        os.kill(first, signal.SIGKILL)
        return left

    assert in_child(scene) == 0


@FORMS
def test_killing_it_ends_everyone_in_the_namespace(make: Callable[[], pid_one.PidOne]) -> None:
    def scene() -> object:
        first = started(make())
        sleeper = os.fork()
        if sleeper == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(60)
        os.kill(first, signal.SIGKILL)
        return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in (sleeper, first)]

    assert in_child(scene) == [-signal.SIGKILL, -signal.SIGKILL]


@FORMS
def test_it_holds_no_descriptor(make: Callable[[], pid_one.PidOne]) -> None:
    def scene() -> object:
        first = started(make())
        time.sleep(0.05)
        held = os.listdir(f"/proc/{first}/fd")
        os.kill(first, signal.SIGKILL)
        return held

    assert in_child(scene) == []


def started(made: pid_one.PidOne) -> int:
    namespaces.unshare(namespaces.NEW_PID)
    KEPT.append(made)
    return made.start()


def children_of(pid: int) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            text = path.read_text()
        except OSError:
            continue
        if f"\nPPid:\t{pid}\n" in text:
            found.append(text)
    return found
