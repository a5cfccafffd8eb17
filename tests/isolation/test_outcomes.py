"""From facts of the kernel to an ending: no process needed."""

from __future__ import annotations

import dataclasses
import signal

import pytest

from sandbox_runtime.isolation.outcomes import PROBES, EndFacts, classify_ending
from sandbox_runtime.model import Ending
from sandbox_runtime.model.outcome import BLAME_OF

EVERY_LIMIT_MET = EndFacts(oom_kills=1, processes_refused=1, disk_full=True, cpu_s=9, cpu_limit_s=1, denied=frozenset({"mount"}))


@pytest.mark.parametrize(
    ("facts", "ending"),
    [
        (EndFacts(exit_code=0), Ending.exited),
        (EndFacts(exit_code=1), Ending.exited),
        (EndFacts(signal=signal.SIGSEGV), Ending.signaled),
        (EndFacts(signal=signal.SIGKILL), Ending.signaled),
        (EndFacts(signal=signal.SIGKILL, stop_reason="wall"), Ending.timed_out),
        (EndFacts(signal=signal.SIGKILL, stop_reason="cpu"), Ending.cpu_exceeded),
        (EndFacts(signal=signal.SIGKILL, stop_reason="output"), Ending.output_limit),
        (EndFacts(signal=signal.SIGKILL, stop_reason="cancel"), Ending.cancelled),
        (EndFacts(signal=signal.SIGKILL, oom_kills=1), Ending.out_of_memory),
        (EndFacts(exit_code=1, oom_kills=1), Ending.out_of_memory),
        (EndFacts(signal=signal.SIGXCPU), Ending.cpu_exceeded),
        (EndFacts(signal=signal.SIGKILL, cpu_s=2.0, cpu_limit_s=2.0), Ending.cpu_exceeded),
        (EndFacts(signal=signal.SIGKILL, cpu_s=1.9, cpu_limit_s=2.0), Ending.signaled),
        (EndFacts(exit_code=1, cpu_s=5.0, cpu_limit_s=2.0), Ending.exited),
        (EndFacts(signal=signal.SIGXFSZ), Ending.disk_limit),
        (EndFacts(exit_code=1, disk_full=True), Ending.disk_limit),
        (EndFacts(exit_code=1, processes_refused=3), Ending.process_limit),
        (EndFacts(signal=signal.SIGSYS), Ending.denied),
        (EndFacts(exit_code=32, denied=frozenset({"mount"})), Ending.denied),
        (EndFacts(exit_code=1, denied=frozenset(PROBES)), Ending.exited),
        (EndFacts(signal=signal.SIGSEGV, denied=frozenset(PROBES)), Ending.signaled),
        (EndFacts(exit_code=127, not_started=True), Ending.not_started),
        (EndFacts(lost=True), Ending.lost),
    ],
)
def test_each_ending_has_its_fact(facts: EndFacts, ending: Ending) -> None:
    assert classify_ending(facts) is ending


def test_a_program_that_ends_well_has_exited_whatever_it_met_on_the_way() -> None:
    assert classify_ending(dataclasses.replace(EVERY_LIMIT_MET, exit_code=0)) is Ending.exited


@pytest.mark.parametrize(
    ("reason", "ending"), [("wall", Ending.timed_out), ("output", Ending.output_limit), ("cancel", Ending.cancelled)]
)
def test_what_we_stopped_ended_for_our_reason(reason: str, ending: Ending) -> None:
    assert classify_ending(dataclasses.replace(EVERY_LIMIT_MET, signal=signal.SIGKILL, stop_reason=reason)) is ending


def test_a_box_that_died_while_we_stopped_its_command_is_no_fault_of_the_platform() -> None:
    assert classify_ending(EndFacts(lost=True, stop_reason="wall")) is Ending.timed_out


def test_running_out_of_memory_explains_more_than_any_other_limit() -> None:
    assert classify_ending(dataclasses.replace(EVERY_LIMIT_MET, exit_code=1)) is Ending.out_of_memory


def test_limits_explain_more_than_refused_calls() -> None:
    assert classify_ending(EndFacts(exit_code=1, disk_full=True, denied=frozenset({"mount"}))) is Ending.disk_limit


def test_every_ending_has_someone_to_blame() -> None:
    assert set(BLAME_OF) == set(Ending)
