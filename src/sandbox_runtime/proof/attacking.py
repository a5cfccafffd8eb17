"""Running attacks against a backend, one after another, and judging each."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Callable, Iterable

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Layer, LayerState, Policy
from sandbox_runtime.proof import leftovers
from sandbox_runtime.proof.arena import Arena
from sandbox_runtime.proof.corpus import NEEDS, Attack
from sandbox_runtime.proof.scenes import SCENE
from sandbox_runtime.proof.verdict import State, Verdict, judge

ATTACK_LIMIT_S = 10.0


async def attack(
    backend: Backend,
    policy: Policy,
    corpus: Iterable[Attack],
    *,
    python: str,
    state_dir: str,
    tell: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Every attack of the corpus in fresh boxes under the policy.

    python: the guest's interpreter, by the path with which the backend starts it warm. state_dir: the backend's folder.
    tell: called with each verdict as it comes.
    """
    on = {report.layer for report in backend.layers() if report.state is LayerState.on}
    await (await backend.open(policy)).close()
    verdicts = []
    for one in corpus:
        verdict = _inapplicable(one, backend, policy, on) or await _attack(backend, policy, one, python, state_dir)
        verdicts.append(verdict)
        if tell is not None:
            tell(verdict)
    return verdicts


def _inapplicable(attack: Attack, backend: Backend, policy: Policy, on: set[Layer]) -> Verdict | None:
    reason = next((NEEDS[need] for need in attack.needs if not _has(need, backend, policy)), "")
    if attack.layers and not on & set(attack.layers):
        reason = f"{backend.name} has no layer {' or '.join(attack.layers)} here"
    return _verdict(attack, State.not_applicable, reason, 0.0) if reason else None


def _has(need: str, backend: Backend, policy: Policy) -> bool:
    if need == "own_devices":
        return backend.name == "namespaces" and os.geteuid() == 0
    if need == "no_network":
        return policy.network.mode == "none"
    return platform.machine() == need


async def _attack(backend: Backend, policy: Policy, attack: Attack, python: str, state_dir: str) -> Verdict:
    began = time.monotonic()
    before = leftovers.look(state_dir)
    arena = Arena(backend, policy, attack, python)
    try:
        async with asyncio.timeout(ATTACK_LIMIT_S), arena:
            await SCENE[attack.scene](arena)
    except TimeoutError:
        arena.evidence.doubts.append(f"it took longer than {ATTACK_LIMIT_S:g} s")
    except (SandboxError, OSError) as error:
        arena.evidence.doubts.append(f"{type(error).__name__}: {error}")
    arena.evidence.breaches += leftovers.look(state_dir).since(before)
    state, reason = judge(attack, arena.evidence, filtered=not policy.without & {Layer.seccomp, Layer.privileges})
    return _verdict(attack, state, reason, time.monotonic() - began)


def _verdict(attack: Attack, state: State, reason: str, wall_s: float) -> Verdict:
    return Verdict(attack.name, attack.title, attack.layers, attack.shows, state, reason, wall_s)
