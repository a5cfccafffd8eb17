from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_runtime.perf import processes

_FAMILY = "import os, time; os.fork(); os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)"


@pytest.fixture
def family() -> Iterator[tuple[int, set[int]]]:
    """A child and the child's child: the pid of the first, and both."""
    with subprocess.Popen([sys.executable, "-c", _FAMILY], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = {int(parent.stdout.readline()), int(parent.stdout.readline())}
        try:
            yield parent.pid, pids
        finally:
            for pid in pids:
                os.kill(pid, 9)


def test_descendants_are_children_and_theirs(family: tuple[int, set[int]]) -> None:
    first, both = family
    assert both <= processes.descendants(os.getpid())
    assert processes.descendants(first) == both - {first}


def test_memory_that_is_written_to_is_private_and_counts_in_full() -> None:
    before = processes.weight(os.getpid())
    held = bytearray(os.urandom(1) * (32 * 1024 * 1024))
    after = processes.weight(os.getpid())
    assert after.private_bytes - before.private_bytes > 0.9 * len(held)
    assert after.pss_bytes - before.pss_bytes > 0.9 * len(held)


def test_what_two_processes_share_is_divided_between_them(family: tuple[int, set[int]]) -> None:
    first, both = family
    together = processes.weight_of_all(both)
    assert together.pss_bytes < 2 * processes.resident_bytes(first)
    assert together.private_bytes <= together.pss_bytes


def test_a_fork_has_memory_of_its_own_and_counts_for_itself(family: tuple[int, set[int]]) -> None:
    first, both = family
    (second,) = both - {first}
    assert processes.same_memory(first, first)
    assert not processes.same_memory(first, second)
    assert processes.weight_of_all(both).private_bytes >= processes.weight_of_all([first]).private_bytes > 0


def test_memory_that_is_one_and_the_same_counts_once() -> None:
    own = os.getpid()
    assert processes.weight_of_all([own, own]).pss_bytes == pytest.approx(processes.weight(own).pss_bytes, rel=0.1)
    assert processes.weight_of_all([own], beside=[own]) == processes.NOTHING


def test_a_dead_process_weighs_and_holds_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    assert processes.weight(process.pid) == processes.NOTHING
    assert (processes.descriptors(process.pid), processes.mounts(process.pid)) == (0, 0)
    assert processes.parent_of(process.pid) is None


def test_an_open_descriptor_is_counted(tmp_path: Path) -> None:
    before = processes.descriptors(os.getpid())
    with (tmp_path / "file").open("w"):
        assert processes.descriptors(os.getpid()) == before + 1


def test_files_and_folders_are_counted_at_every_depth(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    assert processes.entries_below(str(tmp_path)) == 3
    assert processes.entries_below(str(tmp_path / "none")) == 0
