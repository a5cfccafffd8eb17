"""Privileges given up for real, in child processes, read back from the kernel."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox_runtime.isolation.kernel import capabilities

SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
CAP_SETPCAP = 8
NOBODY = 65534
needs_rights = pytest.mark.skipif(not capabilities.effective() & 1 << CAP_SETPCAP, reason="needs root, to have rights to give up")


def in_child(body: Callable[[], Any]) -> Any:
    """What the body returns, as JSON, in a forked process."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(write_end, json.dumps(body()).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return json.loads(text)


def status(pid: int | str = "self") -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def held() -> dict[str, int]:
    return {name: int(status()[name], 16) for name in SETS}


@needs_rights
def test_dropping_all_leaves_nothing_in_any_set() -> None:
    def attempt() -> dict[str, int]:
        capabilities.drop_all()
        return held()

    assert in_child(attempt) == dict.fromkeys(SETS, 0)


@needs_rights
def test_root_gets_nothing_back_at_execve() -> None:
    def attempt() -> str:
        capabilities.drop_all()
        code = "import re; print(re.findall(r'Cap(?:Prm|Eff|Bnd):\\s*(\\w+)', open('/proc/self/status').read()))"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert in_child(attempt).strip() == str(["0" * 16] * 3)


@needs_rights
def test_dropping_all_twice_is_as_good_as_once() -> None:
    def attempt() -> dict[str, int]:
        capabilities.drop_all()
        capabilities.drop_all()
        return held()

    assert in_child(attempt) == dict.fromkeys(SETS, 0)


def test_who_may_not_lower_the_bounding_set_is_told_so() -> None:
    def attempt() -> str:
        if os.geteuid() == 0:
            os.setresuid(NOBODY, NOBODY, NOBODY)
        try:
            capabilities.drop_all()
        except PermissionError as error:
            return str(error)
        return "dropped"

    if not held()["CapBnd"]:
        pytest.skip("the bounding set is empty already")
    assert "Operation not permitted" in in_child(attempt)


def test_the_effective_set_is_read_back() -> None:
    assert capabilities.effective() == held()["CapEff"]


def test_new_privileges_are_forbidden_to_children_too() -> None:
    def attempt() -> list[str]:
        capabilities.forbid_new_privileges()
        child = subprocess.run(["grep", "NoNewPrivs", "/proc/self/status"], capture_output=True, text=True, check=True)
        return [status()["NoNewPrivs"], child.stdout.split()[-1]]

    assert in_child(attempt) == ["1", "1"]


def test_what_is_not_dumpable_cannot_be_looked_into_by_its_own_user() -> None:
    def attempt() -> list[str]:
        if os.geteuid() == 0:
            os.setresuid(NOBODY, NOBODY, NOBODY)
        return [_look_from_child(dumpable) for dumpable in (True, False)]

    assert in_child(attempt) == ["seen", "hidden"]


def _look_from_child(dumpable: bool) -> str:
    capabilities.set_dumpable(dumpable)
    environment = Path(f"/proc/{os.getpid()}/environ")

    def look() -> str:
        try:
            environment.read_bytes()
        except PermissionError:
            return "hidden"
        return "seen"

    return str(in_child(look))


def test_a_child_dies_with_its_parent() -> None:
    """The grandchild holds the pipe open; its end is what we wait for."""
    read_end, write_end = os.pipe()
    parent = os.fork()
    if not parent:
        ready_in, ready_out = os.pipe()
        if not os.fork():
            capabilities.die_with_parent(signal.SIGKILL)
            os.write(ready_out, b"r")
            signal.pause()
        os.read(ready_in, 1)
        os._exit(0)
    os.close(write_end)
    os.waitpid(parent, 0)
    with open(read_end, "rb") as silence:
        assert silence.read() == b""
