"""Whether a language works on this host: its own check program is run in a box, once, and the answer remembered, a good one also
from one start of the server to the next.

A failing check is asked for again after a while, because an operator may install what was missing without a restart. A fault
of the platform proves nothing and is not remembered at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.languages import Install, Language
from sandbox_runtime.model import Blame, Ending, Job, JobResult, Limits, Outcome

ASK_AGAIN_AFTER_S = 30.0

Execute = Callable[[Language, Job, tuple[str, ...]], Awaitable[JobResult]]
"""Runs a job of a language in a box of its own, with these flags at the end of its compile command."""
Version = Callable[[Language], Awaitable[str]]
"""Asks the toolchain of a language; raises Unavailable where it gives no answer."""


@dataclass(frozen=True, slots=True)
class LanguageStatus:
    """linked: which of the language's optional flags link here. version: what its toolchain says of itself. reason tells what is
    wrong where enabled is False. pending: nobody knows yet."""

    language: str
    enabled: bool
    linked: tuple[str, ...] = ()
    reason: str = ""
    version: str = ""
    pending: bool = False
    at: float = 0.0

    @property
    def stale(self) -> bool:
        return not self.enabled and time.monotonic() - self.at > ASK_AGAIN_AFTER_S


class StatusCache(Protocol):
    """Keeps good proofs from one start to the next, as long as what they depend on is the same."""

    def recall(self, language: Language) -> LanguageStatus | None: ...

    def keep(self, language: Language, proof: LanguageStatus) -> None: ...

    def forget(self, language: Language) -> None: ...


class LanguageChecker:
    def __init__(self, execute: Execute, version: Version, limits: Limits, memory: StatusCache | None = None) -> None:
        self._execute = execute
        self._memory = memory
        self._version = version
        self._limits = limits
        self._proofs: dict[str, LanguageStatus] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def known(self, language: Language) -> LanguageStatus | None:
        """What is known without asking; the way that every run takes after the first."""
        proof = self._proofs.get(language.name)
        return None if proof is None or proof.stale else proof

    async def prove(self, language: Language, *, fresh: bool = False) -> LanguageStatus:
        """fresh: whatever is known, ask again."""
        async with self._locks.setdefault(language.name, asyncio.Lock()):
            proof = None if fresh else self.known(language) or self._recalled(language)
            if proof is None:
                proof = await self._ask(language)
                self._remember(language, proof)
            self._proofs[language.name] = proof
            return proof

    def _recalled(self, language: Language) -> LanguageStatus | None:
        return self._memory.recall(language) if self._memory else None

    def _remember(self, language: Language, proof: LanguageStatus) -> None:
        if self._memory and proof.enabled:
            self._memory.keep(language, proof)
        elif self._memory:
            self._memory.forget(language)

    async def linked(self, language: Language) -> tuple[str, ...]:
        """The optional flags of a language that works here; raises Unavailable for one that does not."""
        proof = self.known(language) or await self.prove(language)
        if not proof.enabled:
            named = f"{language.title} ({language.name})"
            raise Unavailable(f"{named} does not work on this host: {proof.reason}. {_advice(language)}")
        return proof.linked

    async def prove_all(
        self, languages: Iterable[Language], within_s: float | None = None, *, fresh: bool = False
    ) -> tuple[LanguageStatus, ...]:
        """One after another; those that were not reached in time are pending."""
        proofs: dict[str, LanguageStatus] = {}
        every = list(languages)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                for language in every:
                    proofs[language.name] = await self.prove(language, fresh=fresh)
        return tuple(proofs.get(language.name) or self.known(language) or _pending(language) for language in every)

    async def _ask(self, language: Language) -> LanguageStatus:
        """With all optional flags at once, which mostly works; otherwise with those that link one by one."""
        linked = language.compile.linked if language.compile else ()
        reason = await self._check(language, linked)
        if reason and linked:
            linked = tuple([flag for flag in linked if not await self._check(language, (flag,))])
            reason = await self._check(language, linked)
        if reason:
            return LanguageStatus(language.name, False, linked, language.install.unavailable or reason, at=time.monotonic())
        return LanguageStatus(language.name, True, linked, version=await self._told_version(language), at=time.monotonic())

    async def _told_version(self, language: Language) -> str:
        """A toolchain that works and says nothing of its version is none the worse for it."""
        try:
            return await self._version(language)
        except Unavailable:
            return ""

    async def _check(self, language: Language, linked: tuple[str, ...]) -> str:
        """What is wrong, or an empty text."""
        check = language.check
        limits = self._limits
        job = Job(language.name, check.code, check.stdin.encode(), check.files, compile_limits=limits, run_limits=limits)
        try:
            result = await self._execute(language, job, linked)
        except Unavailable as error:
            # Such as a box with a graphics card on a machine that has none.
            return str(error)
        for outcome in (result.compile, result.run):
            if outcome is not None and not outcome.ok:
                return _told(outcome)
        printed, wanted = b"" if result.run is None else bytes(result.run.stdout), check.stdout.encode()
        if (wanted in printed) if check.contains else (wanted == printed):
            return ""
        return "its check program did not print what it was to print"


def _pending(language: Language) -> LanguageStatus:
    return LanguageStatus(language.name, False, reason="its check has not come to its end yet", pending=True)


def _advice(language: Language) -> str:
    install = language.install
    by_command = "" if install.unavailable or install == Install() else f"; `sandbox languages install {language.name}` brings it"
    return f"It needs {language.needs}{by_command}"


def _told(outcome: Outcome) -> str:
    if outcome.blame is Blame.platform:
        raise PlatformFault(outcome.message or "a check program was lost")
    if outcome.ending is Ending.not_started:
        return outcome.message or "its program cannot be started"
    words = (outcome.message or outcome.stderr.text).strip().splitlines()
    return f"its check program ended with {outcome.ending}" + (f" ({words[-1][:200]})" if words else "")
