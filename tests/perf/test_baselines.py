from __future__ import annotations

import os
import shutil

import pytest
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.guest_interpreter import inspect_interpreter
from sandbox_runtime.isolation.rootfs import outermost
from sandbox_runtime.perf import baselines
from sandbox_runtime.perf.jobs import PLAIN, Program


def test_the_bare_interpreter_runs_the_program_and_its_time_is_taken(guest_python: str) -> None:
    with baselines.program_file(PLAIN) as source:
        assert baselines.bare(guest_python, source, PLAIN).once() > 0
    assert not source.exists()


def test_a_program_with_another_output_is_no_baseline(guest_python: str) -> None:
    wrong = Program("print(46)\n", "45\n")
    with baselines.program_file(wrong) as source, pytest.raises(PlatformFault, match="46"):
        baselines.bare(guest_python, source, wrong).once()


def test_a_program_that_fails_is_told_with_its_last_words(guest_python: str) -> None:
    failing = Program("1 / 0\n", "")
    with baselines.program_file(failing) as source, pytest.raises(PlatformFault, match=r"(?s)status 1.*ZeroDivisionError"):
        baselines.bare(guest_python, source, failing).once()


def test_bubblewrap_runs_the_program_with_nothing_shared(guest_python: str) -> None:
    skip_where_the_host_lacks("bubblewrap")
    guest = inspect_interpreter(guest_python)
    look = Program("import os\nprint(os.getpid() < 10, os.path.exists('/proc/1'), os.listdir('.'))\n", "True True ['main.py']\n")
    with baselines.program_file(look) as source:
        assert baselines.bubblewrap(guest.python, outermost(guest.prefixes), source, look).once() > 0


def test_without_bubblewrap_it_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch, guest_python: str) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert shutil.which("bwrap") is None
    with baselines.program_file(PLAIN) as source, pytest.raises(Unavailable, match="apt install bubblewrap"):
        baselines.bubblewrap(guest_python, [], source, PLAIN)


def test_back_to_back_counts_only_what_ended_in_time(guest_python: str) -> None:
    with baselines.program_file(PLAIN) as source:
        samples, seconds = baselines.back_to_back(baselines.bare(guest_python, source, PLAIN), workers=2, seconds=0.5)
    assert seconds == 0.5
    assert sum(samples) <= 2 * seconds


def test_back_to_back_tells_what_broke(guest_python: str) -> None:
    with baselines.program_file(PLAIN) as source:
        wrong = baselines.Baseline((guest_python, str(source)), "46\n")
        with pytest.raises(PlatformFault, match="45"):
            baselines.back_to_back(wrong, workers=2, seconds=5.0)


def test_no_descriptor_is_left_open(guest_python: str) -> None:
    with baselines.program_file(PLAIN) as source:
        baseline = baselines.bare(guest_python, source, PLAIN)
        before = os.listdir("/proc/self/fd")
        baseline.once()
        with pytest.raises(FileNotFoundError):
            baselines.Baseline(("/nonexistent/python",), "").once()
        assert os.listdir("/proc/self/fd") == before
