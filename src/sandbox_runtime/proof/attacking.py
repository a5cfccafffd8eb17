"""Running attacks against a backend, one after another, and judging each."""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Layer, LayerState, Policy
from sandbox_runtime.proof import leftovers
from sandbox_runtime.proof.arena import Arena
from sandbox_runtime.proof.corpus import NEEDS, Attack
from sandbox_runtime.proof.scenes import SCENE
from sandbox_runtime.proof.verdict import State, Verdict, judge

ATTACK_LIMIT_S = 60.0


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
    target = _Target(backend, policy, python, state_dir)
    if policy != Policy():
        # What a backend starts for the first box of an unusual policy shall be there before anything is counted.
        await (await backend.open(policy)).close()
    verdicts = []
    for one in corpus:
        reason = target.inapplicable(one)
        verdict = _verdict(one, State.not_applicable, reason, 0.0) if reason else await _attack(target, one)
        verdicts.append(verdict)
        if tell is not None:
            tell(verdict)
    return verdicts


@dataclass(frozen=True, slots=True)
class _Target:
    backend: Backend
    policy: Policy
    python: str
    state_dir: str

    @property
    def claimed(self) -> set[Layer]:
        return {report.layer for report in self.backend.layers() if report.state is LayerState.on}

    @property
    def filtered(self) -> bool:
        """Whether boxes have the system call filter, which needs that no privileges can be gained."""
        return self.claimed - self.policy.without >= {Layer.seccomp, Layer.privileges}

    def inapplicable(self, attack: Attack) -> str:
        """Why an attack makes no sense here, or nothing."""
        if attack.layers and not self.claimed & set(attack.layers):
            return f"{self.backend.name} has no layer {' or '.join(attack.layers)} here"
        return next((NEEDS[need] for need in attack.needs if not self._has(need)), "")

    def _has(self, need: str) -> bool:
        if need == "own_devices":
            return self.backend.name == "namespaces" and os.geteuid() == 0
        if need == "no_network":
            return self.policy.network.mode == "none"
        return platform.machine() == need


async def _attack(target: _Target, attack: Attack) -> Verdict:
    began = time.monotonic()
    before = leftovers.look(target.state_dir)
    arena = Arena(target.backend, target.policy, attack, target.python)
    cpu_s = time.process_time()
    try:
        async with asyncio.timeout(ATTACK_LIMIT_S), arena:
            await SCENE[attack.scene](arena)
    except TimeoutError:
        arena.evidence.doubts.append(f"it took longer than {ATTACK_LIMIT_S:g} s")
    except (SandboxError, OSError) as error:
        arena.evidence.doubts.append(f"{type(error).__name__}: {error}")
    cpu_s = time.process_time() - cpu_s
    if attack.server_cpu_s is not None and cpu_s > attack.server_cpu_s:
        arena.evidence.breaches.append(f"it cost the server {cpu_s:.2f} s of its own time")
    arena.evidence.breaches += await leftovers.left_since(before, target.state_dir)
    state, reason = judge(attack, arena.evidence, filtered=target.filtered)
    return _verdict(attack, state, reason, time.monotonic() - began)


def _verdict(attack: Attack, state: State, reason: str, wall_s: float) -> Verdict:
    return Verdict(
        attack.name, attack.title, attack.layers, attack.shows, state, reason, wall_s, attack.family, attack.guards
    )
