"""Every attack of the corpus, on every backend that isolates and in every kind of box that it makes."""

from __future__ import annotations

import pytest
from tests.doctor.conftest import Attacking

from sandbox_runtime.doctor import Attack, State, load_corpus
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Policy

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.attack]

KINDS = [("namespaces", Policy(single_use=True)), ("namespaces", Policy()), ("bubblewrap", Policy())]


@pytest.mark.requirement("fusion-5.10")
@pytest.mark.parametrize(
    ("isolating", "policy"), KINDS, ids=["namespaces-once", "namespaces", "bubblewrap"], indirect=["isolating"]
)
@pytest.mark.parametrize("one", [one for one in load_corpus() if one.scene != "client"], ids=lambda one: one.name)
async def test_the_attack_is_held(one: Attack, isolating: Backend, policy: Policy, attacking: Attacking) -> None:
    if one.scene == "lab" and policy.single_use:
        pytest.skip("what a box reaches does not depend on how often it is used")
    verdict = await attacking(isolating, one, policy)
    if verdict.state is State.not_applicable:
        pytest.skip(verdict.reason)
    assert verdict.state is State.held, verdict.reason
