"""Every attack of the corpus, on every backend that isolates and in every kind of box that it makes."""

from __future__ import annotations

import pytest
from tests.doctor.conftest import RunAttack

from sandbox_runtime.doctor import Attack, State, load_corpus
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Policy

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.attack]

KINDS = [("namespaces", Policy(single_use=True)), ("namespaces", Policy()), ("bubblewrap", Policy())]


@pytest.mark.requirement("fusion-5.10")
@pytest.mark.parametrize(
    ("isolated_backend", "policy"), KINDS, ids=["namespaces-once", "namespaces", "bubblewrap"], indirect=["isolated_backend"]
)
@pytest.mark.parametrize("one", [one for one in load_corpus() if one.scenario != "client"], ids=lambda one: one.name)
async def test_the_attack_is_held(one: Attack, isolated_backend: Backend, policy: Policy, run_attack: RunAttack) -> None:
    if one.scenario == "lab" and policy.single_use:
        pytest.skip("what a box reaches does not depend on how often it is used")
    verdict = await run_attack(isolated_backend, one, policy)
    if verdict.state is State.not_applicable:
        pytest.skip(verdict.reason)
    assert verdict.state is State.held, verdict.reason
