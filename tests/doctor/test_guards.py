"""The corpus tests the guards of the server: with any one of them switched off, the attacks that name it get through."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.doctor.conftest import OpenNamedBackend, RunAttack
from tests.doctor.disabled_guards import NOT_SWITCHED, SWITCHES
from tests.doctor.servers import attacked_server

from sandbox_runtime.doctor import Attack, Guard, State, Verdict, attack_server, load_corpus

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.attack]

PAIRS = [(guard, one) for guard in Guard for one in load_corpus() if guard in one.shows_guards]


def cases(*, clients: bool) -> list[object]:
    chosen = [(guard, one) for guard, one in PAIRS if (one.scenario == "client") is clients]
    return [pytest.param(guard, one, id=f"{guard}-{one.name}") for guard, one in chosen]


def check(verdict: Verdict) -> None:
    if verdict.state is State.not_applicable:
        pytest.skip(verdict.reason)
    assert verdict.state is State.escaped, f"{verdict.attack}: {verdict.reason}"


@pytest.mark.parametrize(("guard", "one"), cases(clients=False))
async def test_without_the_guard_the_attack_on_a_box_gets_through(
    guard: Guard, one: Attack, open_named_backend: OpenNamedBackend, run_attack: RunAttack, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = await open_named_backend("namespaces")
    SWITCHES[guard](monkeypatch)
    check(await run_attack(backend, one))


@pytest.mark.slow
@pytest.mark.parametrize(("guard", "one"), cases(clients=True))
async def test_without_the_guard_the_attack_on_a_server_gets_through(
    guard: Guard, one: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_where_the_host_lacks("namespaces")
    overrides = SWITCHES[guard](monkeypatch)
    async with attacked_server(tmp_path, "namespaces", overrides) as server:
        (verdict,) = await attack_server(server, [one])
    check(verdict)


async def test_every_guard_is_shown_or_it_is_said_why_not() -> None:
    assert {guard for guard, _ in PAIRS} == set(SWITCHES)
    assert set(SWITCHES) | set(NOT_SWITCHED) == set(Guard)
