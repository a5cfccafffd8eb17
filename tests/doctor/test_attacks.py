"""Every attack of the corpus, on every backend that isolates and in every kind of box that it makes."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet
from tests.doctor.conftest import RunAttack

from sandbox_runtime.doctor import Attack, State, load_corpus
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Policy

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.attack]

ATTACKS = [attack for attack in load_corpus() if attack.scenario != "client"]
KINDS = {
    "namespaces-once": ("namespaces", Policy(single_use=True)),
    "namespaces": ("namespaces", Policy()),
    "bubblewrap": ("bubblewrap", Policy()),
}


def case(kind: str, attack: Attack) -> ParameterSet:
    """Every attack runs in the kind of box that most programs get; the quick ones also in the others."""
    fast = kind == "namespaces-once" or attack.quick or (attack.scenario == "lab" and kind == "namespaces")
    return pytest.param(*KINDS[kind], attack, id=f"{attack.name}-{kind}", marks=() if fast else pytest.mark.slow)


@pytest.mark.requirement("fusion-5.10")
@pytest.mark.parametrize(
    ("isolated_backend", "policy", "one"),
    [case(kind, attack) for kind in KINDS for attack in ATTACKS],
    indirect=["isolated_backend"],
)
async def test_the_attack_is_held(one: Attack, isolated_backend: Backend, policy: Policy, run_attack: RunAttack) -> None:
    if one.scenario == "lab" and policy.single_use:
        pytest.skip("what a box reaches does not depend on how often it is used")
    verdict = await run_attack(isolated_backend, one, policy)
    if verdict.state is State.not_applicable:
        pytest.skip(verdict.reason)
    assert verdict.state is State.held, verdict.reason
