"""Check whether a language works on this host by running its check program in a box.

Results are cached; a passed check also survives a restart (see check_cache). A failed check runs again after a while, because
an operator may install what is missing without a restart. A platform fault says nothing about the language and is not cached.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.languages.language import Install, Language
from sandbox_runtime.model.job import Job, JobResult
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Blame, Ending, Outcome

RECHECK_AFTER_S = 30.0

Execute = Callable[[Language, Job, tuple[str, ...]], Awaitable[JobResult]]
"""Run a job of a language in its own box, with these flags at the end of the compile command."""
Version = Callable[[Language], Awaitable[str]]
"""Return the toolchain's version. Raises Unavailable if it prints none."""


@dataclass(frozen=True, slots=True)
class LanguageStatus:
    """Result of a language check."""

    language: str
    enabled: bool
    link_flags: tuple[str, ...] = ()
    """The optional link flags that work on this host."""
    reason: str = ""
    """What is wrong, if not enabled."""
    version: str = ""
    """The first line that the toolchain prints about its version."""
    pending: bool = False
    """The check has not finished yet."""
    checked_at: float = 0.0

    @property
    def stale(self) -> bool:
        return not self.enabled and time.monotonic() - self.checked_at > RECHECK_AFTER_S


class StatusCache(Protocol):
    """Keeps passed checks across restarts while what they depend on is unchanged."""

    def load(self, language: Language) -> LanguageStatus | None: ...

    def save(self, language: Language, status: LanguageStatus) -> None: ...

    def remove(self, language: Language) -> None: ...


class LanguageChecker:
    def __init__(self, execute: Execute, version: Version, limits: Limits, cache: StatusCache | None = None) -> None:
        self._execute = execute
        self._cache = cache
        self._version = version
        self._limits = limits
        self._statuses: dict[str, LanguageStatus] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def cached(self, language: Language) -> LanguageStatus | None:
        """Return the cached status, if it is still valid. Every run after the first takes this path."""
        status = self._statuses.get(language.name)
        return None if status is None or status.stale else status

    async def check(self, language: Language, *, fresh: bool = False) -> LanguageStatus:
        """Return the status; with `fresh`, check again even if it is cached."""
        async with self._locks.setdefault(language.name, asyncio.Lock()):
            status = None if fresh else self.cached(language) or self._load(language)
            if status is None:
                status = await self._run_checks(language)
                self._save(language, status)
            self._statuses[language.name] = status
            return status

    def _load(self, language: Language) -> LanguageStatus | None:
        return self._cache.load(language) if self._cache else None

    def _save(self, language: Language, status: LanguageStatus) -> None:
        if self._cache and status.enabled:
            self._cache.save(language, status)
        elif self._cache:
            self._cache.remove(language)

    async def optional_link_flags(self, language: Language) -> tuple[str, ...]:
        """Return the optional link flags of a language. Raises Unavailable if the language does not work here."""
        status = self.cached(language) or await self.check(language)
        if not status.enabled:
            named = f"{language.title} ({language.name})"
            raise Unavailable(f"{named} does not work on this host: {status.reason}. {_install_hint(language)}")
        return status.link_flags

    async def check_all(
        self, languages: Iterable[Language], within_s: float | None = None, *, fresh: bool = False
    ) -> tuple[LanguageStatus, ...]:
        """Check languages one after another. Those not reached in time are pending."""
        statuses: dict[str, LanguageStatus] = {}
        all_languages = list(languages)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                for language in all_languages:
                    statuses[language.name] = await self.check(language, fresh=fresh)
        return tuple(statuses.get(language.name) or self.cached(language) or _pending(language) for language in all_languages)

    async def _run_checks(self, language: Language) -> LanguageStatus:
        """Try all optional flags together, which usually works; otherwise keep the flags that link one by one."""
        link_flags = language.compile.optional_link_flags if language.compile else ()
        reason = await self._check_program(language, link_flags)
        if reason and link_flags:
            link_flags = tuple([flag for flag in link_flags if not await self._check_program(language, (flag,))])
            reason = await self._check_program(language, link_flags)
        if reason:
            return LanguageStatus(
                language.name, False, link_flags, language.install.unavailable or reason, checked_at=time.monotonic()
            )
        return LanguageStatus(
            language.name, True, link_flags, version=await self._optional_version(language), checked_at=time.monotonic()
        )

    async def _optional_version(self, language: Language) -> str:
        """Return the version, or an empty string. The version is optional."""
        try:
            return await self._version(language)
        except Unavailable:
            return ""

    async def _check_program(self, language: Language, link_flags: tuple[str, ...]) -> str:
        """Return what is wrong, or an empty string."""
        check = language.check
        limits = self._limits
        job = Job(language.name, check.code, check.stdin.encode(), check.files, compile_limits=limits, run_limits=limits)
        try:
            result = await self._execute(language, job, link_flags)
        except Unavailable as error:
            # For example a GPU language on a machine without a GPU.
            return str(error)
        for outcome in (result.compile, result.run):
            if outcome is not None and not outcome.ok:
                return _failure_reason(outcome)
        printed, wanted = b"" if result.run is None else bytes(result.run.stdout), check.stdout.encode()
        if (wanted in printed) if check.contains else (wanted == printed):
            return ""
        return "its check program printed something else than expected"


def _pending(language: Language) -> LanguageStatus:
    return LanguageStatus(language.name, False, reason="its check has not finished yet", pending=True)


def _install_hint(language: Language) -> str:
    install = language.install
    by_command = "" if install.unavailable or install == Install() else f"; run `sandbox languages install {language.name}`"
    return f"It needs {language.needs}{by_command}"


def _failure_reason(outcome: Outcome) -> str:
    if outcome.blame is Blame.platform:
        raise PlatformFault(outcome.message or "a check program was lost by the platform")
    if outcome.ending is Ending.not_started:
        return outcome.message or "its program cannot be started"
    words = (outcome.message or outcome.stderr.text).strip().splitlines()
    return f"its check program ended with {outcome.ending}" + (f" ({words[-1][:200]})" if words else "")
