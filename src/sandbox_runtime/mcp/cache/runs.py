"""One caller's runs, some of which are told again."""

from __future__ import annotations

import asyncio
import dataclasses
import shlex
from collections.abc import Awaitable, Callable

from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.mcp.cache.keys import EVERYBODY, key_of
from sandbox_runtime.mcp.cache.results import Results
from sandbox_runtime.mcp.hosts.port import WORKSPACE, Place, Ran, Sink, Work
from sandbox_runtime.telemetry import Log

MOST_KEPT_BYTES = 1024**2
_LONGEST_COMMAND = 16_384
DigestOf = Callable[[str], Awaitable[str]]
"""From a sandbox to the digest of all its files. Raises InvalidRequest where there is more than is looked at."""


class CachedRuns:
    """owner: whose results these are. always: commands, as words, that may be told again without the caller's word. host: see
    key_of."""

    def __init__(
        self, results: Results, digest_of: DigestOf, owner: str, host: str, always: frozenset[tuple[str, ...]], log: Log
    ) -> None:
        self._results = results
        self._digest_of = digest_of
        self._owner = owner
        self._host = host
        self._always = always
        self._log = log

    def wanted(self, work: Work) -> bool:
        return not work.context and (work.cacheable or plain_words(work) in self._always)

    async def run(self, place: Place, sandbox_id: str, work: Work, sink: Sink | None) -> Ran:
        view = await place.get(sandbox_id)
        before = await self._digest(sandbox_id)
        if view.network not in ("", "none") or before is None:
            return await place.run(sandbox_id, work, sink)
        key = key_of(self._owner, self._host, view, work, before)
        found = await self._found(key, key_of(EVERYBODY, self._host, view, work, before))
        if found is not None:
            return found
        ran = await place.run(sandbox_id, work, sink)
        if _fit(ran) and await self._digest(sandbox_id) == before:
            await self._kept(key, sandbox_id, work, ran, before)
        return dataclasses.replace(ran, cached=False)

    async def _digest(self, sandbox_id: str) -> str | None:
        try:
            return await self._digest_of(sandbox_id)
        except InvalidRequest:
            return None  # more files than are looked at: it is run, as always

    async def _found(self, *keys: str) -> Ran | None:
        """Bookkeeping that fails costs nobody a result."""
        try:
            return await self._results.find(*dict.fromkeys(keys))
        except (SandboxError, ValueError) as error:
            self._log.warning("kept results could not be read", reason=str(error))
            return None

    async def _kept(self, key: str, sandbox_id: str, work: Work, ran: Ran, digest: str) -> None:
        command = shlex.join(work.argv) if work.argv else work.language
        try:
            await asyncio.shield(self._results.keep(key, sandbox_id, command[:_LONGEST_COMMAND], ran, digest))
        except SandboxError as error:
            self._log.warning("a result could not be kept", reason=str(error))


def plain_words(work: Work) -> tuple[str, ...]:
    """A command as its caller wrote it; empty where it is none, or runs elsewhere than in the workspace."""
    lead = ("/usr/bin/env", "-C", WORKSPACE)
    return work.argv[len(lead) :] if work.argv[: len(lead)] == lead else ()


def _fit(ran: Ran) -> bool:
    """What went well and is there as a whole."""
    size = len(ran.stdout) + len(ran.stderr)
    return ran.ok and ran.exit_code == 0 and not ran.dropped_bytes and not ran.displays and size <= MOST_KEPT_BYTES
