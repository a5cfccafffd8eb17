"""Run attacks one after another and judge each."""

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
from sandbox_runtime.doctor.attack_boxes import AttackRun
from sandbox_runtime.doctor.client_scenario import Server, run_client
from sandbox_runtime.doctor.corpus import NEEDS, Attack
from sandbox_runtime.doctor.network_scenario import LabBackend, Reopen
from sandbox_runtime.doctor.scenarios import SCENARIO_RUNNERS
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
    on_verdict: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """Run every attack of the corpus in new boxes under the policy. Attacks on a server are for attack_server.

    python: path of the guest interpreter that the backend has warm.
    state_dir: folder of the backend.
    reopen: opens another backend like this one, for attacks on boxes with a network.
    on_verdict: called with each verdict.
    """
    if policy != Policy():
        # What a backend starts for the first box of an unusual policy must exist before the first snapshot.
        await (await backend.open(policy)).close()
    verdicts = []
    async with contextlib.AsyncExitStack() as opened:
        lab_backend = await opened.enter_async_context(LabBackend(reopen)) if reopen else None
        target = _Target(backend, policy, python, state_dir, lab_backend)
        for attack in corpus:
            reason = target.inapplicable(attack)
            verdict = make_verdict(attack, State.not_applicable, reason) if reason else await _attack(target, attack)
            verdicts.append(verdict)
            if on_verdict is not None:
                on_verdict(verdict)
    return verdicts


async def attack_server(
    server: Server, corpus: Iterable[Attack], *, on_verdict: Callable[[Verdict], None] | None = None
) -> list[Verdict]:
    """Run every client attack of the corpus against a running server."""
    verdicts = []
    for attack in corpus:
        started = time.monotonic()
        evidence = Evidence()
        reason = server.inapplicable(attack) or await run_client(server, attack, evidence)
        state, why = (State.not_applicable, reason) if reason else judge(attack, evidence, filtered=False)
        verdicts.append(make_verdict(attack, state, why, time.monotonic() - started))
        if on_verdict is not None:
            on_verdict(verdicts[-1])
    return verdicts


@dataclass(frozen=True, slots=True)
class _Target:
    backend: Backend
    policy: Policy
    python: str
    state_dir: str
    lab_backend: LabBackend | None

    @property
    def claimed(self) -> set[Layer]:
        return {report.layer for report in self.backend.layers() if report.state is LayerState.on}

    @property
    def filtered(self) -> bool:
        """Whether boxes have the seccomp filter, which requires that they cannot gain privileges."""
        return self.claimed - self.policy.without >= {Layer.seccomp, Layer.privileges}

    def inapplicable(self, attack: Attack) -> str:
        """Return why the attack does not apply here, or ""."""
        if attack.scenario == "client":
            return "no server was started or given"
        if attack.scenario == "lab" and (self.lab_backend is None or LabBackend.missing()):
            return f"cannot create a network of namespaces here; not installed: {LabBackend.missing() or 'nothing'}"
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

    async def attack_run(self, attack: Attack) -> AttackRun:
        if attack.scenario != "lab":
            return AttackRun(self.backend, self.policy, attack, self.python)
        assert self.lab_backend is not None
        networked = dataclasses.replace(self.policy, network=Network("nat"))
        return AttackRun(await self.lab_backend.backend(networked), networked, attack, self.python)

    async def run_scenario(self, attack_run: AttackRun) -> None:
        if attack_run.attack.scenario == "lab" and self.lab_backend is not None:
            await self.lab_backend.do(_run_scenario(attack_run))
        else:
            await _run_scenario(attack_run)


async def _run_scenario(attack_run: AttackRun) -> None:
    try:
        async with asyncio.timeout(ATTACK_LIMIT_S), attack_run:
            await SCENARIO_RUNNERS[attack_run.attack.scenario](attack_run)
    except TimeoutError:
        attack_run.evidence.doubts.append(f"it took longer than {ATTACK_LIMIT_S:g} s")
    except (SandboxError, OSError) as error:
        attack_run.evidence.doubts.append(f"{type(error).__name__}: {error}")


async def _attack(target: _Target, attack: Attack) -> Verdict:
    started = time.monotonic()
    attack_run = await target.attack_run(attack)
    before = leftovers.take_snapshot(target.state_dir)
    cpu_s = time.process_time()
    await target.run_scenario(attack_run)
    cpu_s = time.process_time() - cpu_s
    if attack.server_cpu_s is not None and cpu_s > attack.server_cpu_s:
        attack_run.evidence.breaches.append(f"it cost the server {cpu_s:.2f} s of cpu time")
    attack_run.evidence.breaches += await leftovers.wait_for_leftovers(before, target.state_dir)
    state, reason = judge(attack, attack_run.evidence, filtered=target.filtered)
    return make_verdict(attack, state, reason, time.monotonic() - started)


def make_verdict(attack: Attack, state: State, reason: str, wall_s: float = 0.0) -> Verdict:
    return Verdict(attack.name, attack.title, attack.layers, attack.shows, state, reason, wall_s, attack.family, attack.guards)
