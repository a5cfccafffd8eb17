"""Runs of one caller, answered from the cache where possible."""

from __future__ import annotations

import asyncio
import dataclasses
import shlex
from collections.abc import Awaitable, Callable

from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.mcp.cache.result_key import SHARED, cache_key
from sandbox_runtime.mcp.cache.results import ResultStore
from sandbox_runtime.mcp.hosts.port import WORKSPACE, RunOutcome, RunSpec, SandboxHost, Sink
from sandbox_runtime.telemetry import Log

MAX_RESULT_BYTES = 1024**2
_MAX_COMMAND = 16_384
DigestOf = Callable[[str], Awaitable[str]]
"""Returns the digest of all files of a sandbox. Raises InvalidRequest if there are too many to hash."""


class CachedRuns:
    """- `owner`: owner of the results.
    - `host`: see `cache_key`.
    - `always_cached`: commands, split into words, that are cached without the caller's permission."""

    def __init__(
        self,
        results: ResultStore,
        digest_of: DigestOf,
        owner: str,
        host: str,
        always_cached: frozenset[tuple[str, ...]],
        log: Log,
    ) -> None:
        self._results = results
        self._digest_of = digest_of
        self._owner = owner
        self._host = host
        self._always_cached = always_cached
        self._log = log

    def applies_to(self, spec: RunSpec) -> bool:
        return not spec.context and (spec.cacheable or command_words(spec) in self._always_cached)

    async def run(self, host: SandboxHost, sandbox_id: str, spec: RunSpec, sink: Sink | None) -> RunOutcome:
        view = await host.get(sandbox_id)
        before = await self._digest(sandbox_id)
        if view.network not in ("", "none") or before is None:
            return await host.run(sandbox_id, spec, sink)
        key = cache_key(self._owner, self._host, view, spec, before)
        result = await self._find(key, cache_key(SHARED, self._host, view, spec, before))
        if result is not None:
            return result
        outcome = await host.run(sandbox_id, spec, sink)
        if _is_cacheable(outcome) and await self._digest(sandbox_id) == before:
            await self._store(key, sandbox_id, spec, outcome, before)
        return dataclasses.replace(outcome, cached=False)

    async def _digest(self, sandbox_id: str) -> str | None:
        try:
            return await self._digest_of(sandbox_id)
        except InvalidRequest:
            return None  # too many files to hash: run without the cache

    async def _find(self, *keys: str) -> RunOutcome | None:
        """Return the cached result, or None. A failing cache never fails the run."""
        try:
            return await self._results.find(*dict.fromkeys(keys))
        except (SandboxError, ValueError) as error:
            self._log.warning("kept results could not be read", reason=str(error))
            return None

    async def _store(self, key: str, sandbox_id: str, spec: RunSpec, outcome: RunOutcome, digest: str) -> None:
        command = shlex.join(spec.argv) if spec.argv else spec.language
        try:
            await asyncio.shield(self._results.put(key, sandbox_id, command[:_MAX_COMMAND], outcome, digest))
        except SandboxError as error:
            self._log.warning("a result could not be kept", reason=str(error))


def command_words(spec: RunSpec) -> tuple[str, ...]:
    """Return the command as the caller wrote it; empty if it is a program or runs outside the workspace."""
    lead = ("/usr/bin/env", "-C", WORKSPACE)
    return spec.argv[len(lead) :] if spec.argv[: len(lead)] == lead else ()


def _is_cacheable(outcome: RunOutcome) -> bool:
    """Whether the run succeeded and its output is complete and small enough."""
    size = len(outcome.stdout) + len(outcome.stderr)
    return (
        outcome.ok and outcome.exit_code == 0 and not outcome.dropped_bytes and not outcome.displays and size <= MAX_RESULT_BYTES
    )
