"""Running attacks against a backend, one after another, and judging each."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sandbox_runtime.doctor import leftovers
from sandbox_runtime.doctor.attack_boxes import Arena
from sandbox_runtime.doctor.client_scenario import Server, run_client
from sandbox_runtime.doctor.corpus import NEEDS, Attack
from sandbox_runtime.doctor.network_scenario import Laboratory, Reopen
from sandbox_runtime.doctor.scenarios import SCENE
from sandbox_runtime.doctor.verdict import Evidence, State, Verdict, judge
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Layer, LayerState, Network, Policy

ATTACK_LIMIT_S = 60.0


async def attack(
    backend: Backend,
    policy: Policy,
    corpus: Iterable[Attack],
    *,
    python: str,
    state_dir: str,
    reopen: Reopen | None = None,
    tell: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Every attack of the corpus in fresh boxes under the policy; those on a server are for attack_server.

    python: the guest's interpreter, by the path with which the backend starts it warm. state_dir: the backend's folder.
    reopen: opens one more backend like this one, for attacks on boxes with a network. tell: called with each verdict as it comes.
    """
    if policy != Policy():
        # What a backend starts for the first box of an unusual policy shall be there before anything is counted.
        await (await backend.open(policy)).close()
    verdicts = []
    async with contextlib.AsyncExitStack() as opened:
        laboratory = await opened.enter_async_context(Laboratory(reopen)) if reopen else None
        target = _Target(backend, policy, python, state_dir, laboratory)
        for one in corpus:
            reason = target.inapplicable(one)
            verdict = verdict_on(one, State.not_applicable, reason) if reason else await _attack(target, one)
            verdicts.append(verdict)
            if tell is not None:
                tell(verdict)
    return verdicts


async def attack_server(
    server: Server, corpus: Iterable[Attack], *, tell: Callable[[Verdict], None] | None = None
) -> list[Verdict]:
    """Every attack of the corpus that is a client, against a server that runs."""
    verdicts = []
    for one in corpus:
        began = time.monotonic()
        evidence = Evidence()
        reason = server.inapplicable(one) or await run_client(server, one, evidence)
        state, why = (State.not_applicable, reason) if reason else judge(one, evidence, filtered=False)
        verdicts.append(verdict_on(one, state, why, time.monotonic() - began))
        if tell is not None:
            tell(verdicts[-1])
    return verdicts


@dataclass(frozen=True, slots=True)
class _Target:
    backend: Backend
    policy: Policy
    python: str
    state_dir: str
    laboratory: Laboratory | None

    @property
    def claimed(self) -> set[Layer]:
        return {report.layer for report in self.backend.layers() if report.state is LayerState.on}

    @property
    def filtered(self) -> bool:
        """Whether boxes have the system call filter, which needs that no privileges can be gained."""
        return self.claimed - self.policy.without >= {Layer.seccomp, Layer.privileges}

    def inapplicable(self, attack: Attack) -> str:
        """Why an attack makes no sense here, or nothing."""
        if attack.scene == "client":
            return "no server was started or named for it"
        if attack.scene == "lab" and (self.laboratory is None or Laboratory.missing()):
            return f"no network of namespaces can be made here; not installed: {Laboratory.missing() or 'nothing'}"
        if attack.layers and not self.claimed & set(attack.layers):
            return f"{self.backend.name} has no layer {' or '.join(attack.layers)} here"
        return next((NEEDS[need] for need in attack.needs if not self._has(need)), "")

    def _has(self, need: str) -> bool:
        if need == "own_devices":
            return self.backend.name == "namespaces" and os.geteuid() == 0
        if need == "no_network":
            return self.policy.network.mode == "none"
        if need == "root":
            return os.geteuid() == 0
        return platform.machine() == need

    async def arena(self, attack: Attack) -> Arena:
        if attack.scene != "lab":
            return Arena(self.backend, self.policy, attack, self.python)
        assert self.laboratory is not None
        networked = dataclasses.replace(self.policy, network=Network("nat"))
        return Arena(await self.laboratory.backend(networked), networked, attack, self.python)

    async def play(self, arena: Arena) -> None:
        if arena.attack.scene == "lab" and self.laboratory is not None:
            await self.laboratory.do(_play(arena))
        else:
            await _play(arena)


async def _play(arena: Arena) -> None:
    try:
        async with asyncio.timeout(ATTACK_LIMIT_S), arena:
            await SCENE[arena.attack.scene](arena)
    except TimeoutError:
        arena.evidence.doubts.append(f"it took longer than {ATTACK_LIMIT_S:g} s")
    except (SandboxError, OSError) as error:
        arena.evidence.doubts.append(f"{type(error).__name__}: {error}")


async def _attack(target: _Target, attack: Attack) -> Verdict:
    began = time.monotonic()
    arena = await target.arena(attack)
    before = leftovers.look(target.state_dir)
    cpu_s = time.process_time()
    await target.play(arena)
    cpu_s = time.process_time() - cpu_s
    if attack.server_cpu_s is not None and cpu_s > attack.server_cpu_s:
        arena.evidence.breaches.append(f"it cost the server {cpu_s:.2f} s of its own time")
    arena.evidence.breaches += await leftovers.left_since(before, target.state_dir)
    state, reason = judge(attack, arena.evidence, filtered=target.filtered)
    return verdict_on(attack, state, reason, time.monotonic() - began)


def verdict_on(attack: Attack, state: State, reason: str, wall_s: float = 0.0) -> Verdict:
    return Verdict(attack.name, attack.title, attack.layers, attack.shows, state, reason, wall_s, attack.family, attack.guards)
