"""The engine: a job in, a result out.

The way of a run: find the language, check bounds, wait for a place, take a box from the pool, stage, compile, run, fetch,
close the box, leave the place. Nothing on it starts a thread or a task, and nothing is logged unless it went wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Self

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.allowance import Allowance
from sandbox_runtime.engine.boxed import BoxedRun
from sandbox_runtime.engine.pool import BoxPool
from sandbox_runtime.engine.proof import Proof, Prover
from sandbox_runtime.errors import PlatformFault, SandboxError, Unavailable
from sandbox_runtime.isolation.port import Box, Sink
from sandbox_runtime.languages import Catalog, Language, Toolchain, plan, version_step
from sandbox_runtime.model import Blame, Command, Job, JobResult, Outcome, Policy
from sandbox_runtime.telemetry import Log, Metrics

DEAD_WITHIN_S = 0.1


class Engine:
    """python and preset: the guest's interpreter and the modules that warm languages find loaded; toolchains: the folder of
    those that were installed; policies: one for each preset."""

    def __init__(
        self,
        *,
        pool: BoxPool,
        admission: Admission,
        catalog: Catalog,
        allowance: Allowance,
        python: str,
        toolchains: str,
        preset: str,
        policies: Mapping[str, Policy],
        metrics: Metrics,
        log: Log,
        prove_ahead: bool = True,
    ) -> None:
        self._pool = pool
        self._admission = admission
        self._catalog = catalog
        self._allowance = allowance
        self._python = python
        self._toolchains = toolchains
        self._preset = preset
        self._policies = policies
        self._metrics = metrics
        self._log = log
        self._prover = Prover(self._execute, allowance.for_checks())
        self._prove_ahead = prove_ahead
        self._proving: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._prove_ahead:
            self._proving = asyncio.create_task(self._prove_in_background())
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._proving:
            self._proving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._proving

    async def run(self, job: Job, *, sink: Sink | None = None) -> JobResult:
        """sink is given the output of the run step while it runs, beside what the result holds."""
        language = self._catalog.find(job.language)
        self._allowance.check(job)
        entered = await self._admission.enter()
        try:
            linked = await self._prover.linked(language)
            return await self._execute(language, job, linked, sink)
        finally:
            self._admission.leave(entered)

    async def languages(self) -> tuple[Proof, ...]:
        """Each language of the catalog, proven on this host."""
        return await self._prover.prove_all(self._catalog)

    async def version(self, name: str) -> str:
        """What the toolchain of a language says of itself, in its first line; raises Unavailable where it says nothing."""
        language = self._catalog.find(name)
        policy = dataclasses.replace(self._policies["std"], toolchains=language.toolchain)
        box = await self._pool.take(policy)
        try:
            step = version_step(language, Toolchain(self._python, box.workdir, toolchains=self._toolchains))
            outcome = await box.run(Command(step.argv, env=dict(step.env), limits=self._allowance.for_checks()))
        finally:
            await self._pool.discard(policy, box)
        lines = (outcome.stdout.text + outcome.stderr.text).strip().splitlines()
        if not outcome.ok or not lines:
            raise Unavailable(
                f"{language.title} tells no version: {outcome.message or outcome.ending}. It needs {language.needs}"
            )
        return lines[0]

    async def _execute(self, language: Language, job: Job, linked: tuple[str, ...] = (), sink: Sink | None = None) -> JobResult:
        """A box that broke before it gave an outcome is replaced once: whatever ran in it is gone with it. Not when the caller
        may have seen output already."""
        policy = self._policy(language, job)
        result = await self._in_a_box(policy, language, job, linked, sink, last=sink is not None)
        if result is None:
            result = await self._in_a_box(policy, language, job, linked, sink, last=True)
        assert result is not None
        return result

    async def _in_a_box(
        self, policy: Policy, language: Language, job: Job, linked: tuple[str, ...], sink: Sink | None, *, last: bool
    ) -> JobResult | None:
        """None when the box broke and there is another attempt to make."""
        box = await self._pool.take(policy)
        try:
            result = await self._boxed(box, language, job, linked, sink).perform()
        except PlatformFault as fault:
            self._broken(policy, str(fault))
            if last:
                raise
            return None
        finally:
            await self._pool.discard(policy, box)
        ended = result.run or result.compile
        if ended is None or ended.blame is not Blame.platform:
            return result
        self._broken(policy, ended.message)
        return None if not last and _dead_on_arrival(ended, policy) else result

    def _broken(self, policy: Policy, reason: str) -> None:
        self._pool.distrust(policy)
        self._log.warning("a box broke", preset=policy.preset, reason=reason)

    def _boxed(self, box: Box, language: Language, job: Job, linked: tuple[str, ...], sink: Sink | None) -> BoxedRun:
        tools = Toolchain(self._python, box.workdir, self._preset, linked, self._toolchains)
        made = plan(language, job, tools)
        return BoxedRun(box, language, made, job, self._allowance.quotas, self._metrics, sink)

    def _policy(self, language: Language, job: Job) -> Policy:
        policy = self._policies[self._preset if language.warm else "std"]
        if language.compile is not None or language.toolchain:
            policy = dataclasses.replace(policy, single_use=language.compile is None, toolchains=language.toolchain)
        limits = job.run_limits
        if (limits.disk_bytes, limits.disk_files) == (policy.disk_bytes, policy.disk_files):
            return policy
        return dataclasses.replace(policy, disk_bytes=limits.disk_bytes, disk_files=limits.disk_files)

    async def _prove_in_background(self) -> None:
        """So that the first request of a language need not wait for its check."""
        for language in self._catalog:
            try:
                proof = await self._prover.prove(language)
            except SandboxError as error:
                self._log.warning("a language could not be checked", language=language.name, reason=str(error))
                continue
            if not proof.enabled:
                self._log.info("a language is not available", language=language.name, reason=proof.reason)


def _dead_on_arrival(outcome: Outcome, policy: Policy) -> bool:
    """Whether the box was dead before it was given its command, as boxes are that waited ready when their spawner died. That is
    known at once; and a program that did begin in that moment had no way to reach anything outside of its box."""
    return outcome.usage.wall_s < DEAD_WITHIN_S and policy.network.mode == "none"
