"""What the runner makes of programs that speak, keep silent, hang, or leave things behind. Real boxes, attacks of our own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.doctor.conftest import RunAttack

from sandbox_runtime.doctor import Attack, State, leftovers, load_corpus
from sandbox_runtime.doctor.corpus import read_attack
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Layer, Policy

pytestmark = pytest.mark.asyncio(loop_scope="session")

Making = Callable[..., Attack]


@pytest.fixture
def make(tmp_path: Path) -> Making:
    def attack(toml: str = "", **programs: str) -> Attack:
        named = toml if "layers" in toml else f'guards = ["deadlines"]\n{toml}'
        (tmp_path / "attack.toml").write_text(f'title = "Tries."\nfamily = "host"\n{named}')
        for name, code in programs.items():
            (tmp_path / f"{name}.py").write_text(code)
        return read_attack(tmp_path)

    return attack


async def test_a_program_that_says_held_held(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    verdict = await run_attack(namespaces, make(program="print('HELD: because')"))
    assert (verdict.state, verdict.reason) == (State.held, "because")


async def test_a_program_that_says_both_escaped(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    verdict = await run_attack(namespaces, make(program="print('HELD: a'); print('ESCAPED: b')"))
    assert (verdict.state, verdict.reason) == (State.escaped, "b")


async def test_silence_proves_nothing(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    verdict = await run_attack(namespaces, make(program="print('hello')"))
    assert verdict.state is State.inconclusive
    assert verdict.bad


async def test_a_program_that_fails_proves_nothing_whatever_it_said(
    namespaces: Backend, run_attack: RunAttack, make: Making
) -> None:
    verdict = await run_attack(namespaces, make(program="print('HELD: so far', flush=True); raise OSError('by accident')"))
    assert verdict.state is State.inconclusive
    assert "by accident" in verdict.reason


async def test_a_bomb_that_ends_well_proves_nothing(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    verdict = await run_attack(namespaces, make('endings = ["out_of_memory"]', program="print('HELD: too early')"))
    assert verdict.state is State.inconclusive


async def test_a_refusal_that_was_not_counted_proves_nothing(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    verdict = await run_attack(namespaces, make('denied = ["keyctl"]', program="print('HELD: never tried')"))
    assert verdict.state is State.inconclusive
    assert "keyctl" in verdict.reason


async def test_a_first_program_that_is_never_ready_proves_nothing(
    namespaces: Backend, run_attack: RunAttack, make: Making
) -> None:
    one = make('scenario = "beside"', first="print('not yet')", second="print('HELD: alone')")
    verdict = await run_attack(namespaces, one)
    assert verdict.state is State.inconclusive
    assert "never became ready" in verdict.reason


async def test_the_second_program_knows_what_the_first_one_said(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    second = "import probe\nprobe.held(probe.facts()['first'])"
    for scenario in ("again", "after", "beside"):
        verdict = await run_attack(namespaces, make(f'scenario = "{scenario}"', first="print('READY at dawn')", second=second))
        assert (verdict.state, verdict.reason) == (State.held, "at dawn")


async def test_a_harmless_name_that_is_refused_proves_nothing(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    verdict = await run_attack(namespaces, make('scenario = "upload"\n[[upload]]\nname = "/etc/x"\ncontent = "1"'))
    assert verdict.state is State.inconclusive


async def test_a_name_that_should_be_refused_and_is_not_is_an_escape(
    namespaces: Backend, run_attack: RunAttack, make: Making
) -> None:
    verdict = await run_attack(namespaces, make('scenario = "upload"\n[[upload]]\nname = "fine"\nrefused = true'))
    assert verdict.state is State.escaped


async def test_content_that_should_not_come_out_is_an_escape(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    program = "open('found', 'w').write('secret'); print('HELD: laid')"
    verdict = await run_attack(namespaces, make('scenario = "fetch"\n[[fetch]]\nname = "found"', program=program))
    assert verdict.state is State.escaped


async def test_an_attack_on_a_layer_that_is_not_claimed_does_not_apply(
    unisolated: Backend, run_attack: RunAttack, make: Making
) -> None:
    verdict = await run_attack(unisolated, make('layers = ["network"]', program="print('ESCAPED: of course')"))
    assert verdict.state is State.not_applicable
    assert "network" in verdict.reason
    assert not verdict.bad


@pytest.mark.parametrize(
    "name", ["host-loopback", "host-abstract-socket", "host-through-dots", "host-files", "shared-namespaces"]
)
async def test_where_nothing_isolates_the_canaries_are_reached(name: str, unisolated: Backend, run_attack: RunAttack) -> None:
    one = next(one for one in load_corpus() if one.name == name)
    verdict = await run_attack(unisolated, replace(one, layers=(), shows=()))
    assert verdict.state is State.escaped, verdict.reason


async def test_files_made_on_the_host_are_an_escape(unisolated: Backend, run_attack: RunAttack, make: Making) -> None:
    program = "import probe\nopen(probe.facts()['folder'] + '/planted', 'w').close()\nprobe.held('it thinks')"
    verdict = await run_attack(unisolated, make('scenario = "host"', program=program))
    assert verdict.state is State.escaped
    assert "folder of the host" in verdict.reason


async def test_a_process_killed_on_the_host_is_an_escape(unisolated: Backend, run_attack: RunAttack, make: Making) -> None:
    program = "import os, probe\nos.kill(probe.facts()['process'], 9)\nprobe.held('it thinks')"
    verdict = await run_attack(unisolated, make('scenario = "host"', program=program))
    assert verdict.state is State.escaped
    assert "killed" in verdict.reason


async def test_what_attacks_need_is_gone_afterwards(namespaces: Backend, run_attack: RunAttack, make: Making) -> None:
    program = "import probe\nprobe.held(probe.facts()['secret_file'])"
    verdict = await run_attack(namespaces, make('scenario = "host"', program=program))
    assert verdict.state is State.held
    assert not os.path.exists(verdict.reason)
    assert not any(name.startswith("SANDBOX_PROOF") for name in os.environ)


async def test_a_policy_without_a_layer_still_tries_the_attacks_on_it(
    namespaces: Backend, run_attack: RunAttack, make: Making
) -> None:
    one = make('layers = ["uts"]', program="import os, probe\nprobe.held(os.uname().nodename)")
    verdict = await run_attack(namespaces, one, Policy(without=frozenset({Layer.uts})))
    assert verdict.reason == os.uname().nodename


async def test_a_process_that_is_left_is_seen_and_named(state_dir: str) -> None:
    before = leftovers.take_snapshot(state_dir)
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        found = leftovers.take_snapshot(state_dir).since(before)
    finally:
        process.communicate(b"\n", timeout=30)
    assert any(f"process {process.pid}" in line for line in found)
    assert any("descriptor" in line for line in found)
    assert await leftovers.wait_for_leftovers(before, state_dir) == []


async def test_a_folder_that_is_left_is_seen(tmp_path: Path) -> None:
    before = leftovers.take_snapshot(str(tmp_path))
    (tmp_path / "boxes" / "box-1").mkdir(parents=True)
    assert leftovers.take_snapshot(str(tmp_path)).since(before) == [
        f"{tmp_path}/boxes is left",
        f"{tmp_path}/boxes/box-1 is left",
    ]
