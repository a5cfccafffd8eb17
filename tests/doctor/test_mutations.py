"""The corpus tests the layers: with any one of them left out, the attacks that name it as what stops them get through."""

from __future__ import annotations

import os

import pytest
from tests.doctor.conftest import RunAttack

from sandbox_runtime.doctor import Attack, State, load_corpus
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Command, Layer, Policy

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.attack]

PAIRS = [(layer, one) for layer in Layer for one in load_corpus() if layer in one.shows]
QUICK = [(layer, one) for layer, one in PAIRS if one.quick]
"""The programs are the same everywhere: one for each layer tells whether another kind of box leaves it out as well."""

# bwrap forbids new privileges whatever it is told, and a plain user's cannot show /proc without a pid namespace.
BWRAP_INSISTS_ON = {Layer.privileges} if os.geteuid() == 0 else {Layer.privileges, Layer.pid}

CASES = [
    *(("namespaces", False, layer, one) for layer, one in PAIRS),
    *(("namespaces", True, layer, one) for layer, one in QUICK),
    *(("bubblewrap", False, layer, one) for layer, one in QUICK if layer not in BWRAP_INSISTS_ON),
]


def name(case: tuple[str, bool, Layer, Attack]) -> str:
    backend, single_use, layer, one = case
    return f"{backend}-{'once-' if single_use else ''}{layer}-{one.name}"


@pytest.mark.parametrize(
    ("isolated_backend", "single_use", "layer", "one"),
    [pytest.param(*case, id=name(case), marks=() if case[3].quick else pytest.mark.slow) for case in CASES],
    indirect=["isolated_backend"],
)
async def test_without_the_layer_the_attack_gets_through(
    isolated_backend: Backend, single_use: bool, layer: Layer, one: Attack, run_attack: RunAttack
) -> None:
    verdict = await run_attack(isolated_backend, one, Policy(single_use=single_use, without=frozenset({layer})))
    if verdict.state is State.not_applicable:
        pytest.skip(verdict.reason)
    if verdict.state is State.held and one.unless:
        pytest.skip(f"{one.unless}: {verdict.reason}")
    assert verdict.state is State.escaped, verdict.reason


async def test_a_box_without_a_layer_says_so_in_every_answer(isolated_backend: Backend) -> None:
    box = await isolated_backend.open(Policy(without=frozenset({Layer.uts})))
    try:
        outcome = await box.run(Command(("/bin/true",)))
    finally:
        await box.close()
    assert outcome.isolation == f"{isolated_backend.name} without uts"
