"""Packages for a session: installed by the package client of its runtime, in a box on the session's files.

The client runs as any program of the session does, so it needs a network that programs may use; what a package does while it is
installed is the session's own doing. What came of it is written into the session's row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, InvalidRequest, PlatformFault, Unavailable
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model import (
    AuditEntry,
    Command,
    Dependency,
    Ending,
    Installation,
    InstalledDependency,
    InstallState,
    Outcome,
    Session,
)
from sandbox_runtime.model.bounds import MESSAGE_BYTES
from sandbox_runtime.model.limits import GIB
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import Ground
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.packages import requirements
from sandbox_runtime.sessions.registry import PACKAGES_FOLDER, LiveSession
from sandbox_runtime.sessions.specs import MOST_DEPENDENCIES

_LIST_WITHIN_S = 60.0
_TOLD_LINES = 20
_PATH_WITHIN_S = 10.0
_MOST_TOLD = MESSAGE_BYTES // 8
_OFFLINE = (
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "EAI_AGAIN",
    "ENOTFOUND",
)


class Dependencies:
    """python and node_bin: the clients as boxes see them. index_url: where packages come from unless a session says otherwise."""

    def __init__(self, ground: Ground, python: str, node_bin: str, *, network: bool, index_url: str = "") -> None:
        self._ground = ground
        self._python = python
        self._node_bin = node_bin
        self._network = network
        self._index_url = index_url

    def check(self, dependencies: Sequence[Dependency], index_url: str, runtime: str) -> list[str]:
        """What will be asked of the client; raises before anything is done."""
        if not 1 <= len(dependencies) <= MOST_DEPENDENCIES:
            raise InvalidRequest(f"1 to {MOST_DEPENDENCIES} packages can be installed at once, not {len(dependencies)}")
        if index_url:
            requirements.check_index(index_url)
        asked = [requirements.requirement(one, _kind(runtime)) for one in dependencies]
        if not self._network:
            raise Unavailable(
                "packages cannot be installed: programs have no network here. Set allow_network, or install them with the guest "
                "interpreter for everybody"
            )
        if _kind(runtime) == requirements.NODE and not self._node_bin:
            raise Unavailable("npm is not installed: sandbox languages install nodejs")
        return asked

    async def install(
        self,
        live: LiveSession,
        dependencies: Sequence[Dependency],
        index_url: str = "",
        timeout_s: float = 300.0,
        sink: Sink | None = None,
        actor: str = "",
    ) -> Session:
        """The session with what came of it; raises InvalidRequest or Unavailable with the client's own words where it failed."""
        asked = self.check(dependencies, index_url, live.session.runtime)
        if live.session.network == "none":
            raise Conflict(f"packages cannot be installed: the session {live.id!r} was made without a network")
        async with live.guard:
            if live.ending:
                raise Conflict(f"the session {live.id!r} is ending")
            await self._begin(live, dependencies, index_url, entry(actor, "install", "session", live.id, packages=asked))
            try:
                outcome = await self._client(live, asked, index_url or self._index_url, timeout_s, sink)
                error = "" if outcome.ok else self._error(outcome, timeout_s)
            except (PlatformFault, Unavailable) as fault:
                outcome, error = None, str(fault)
            await self._end(live, await self._installed(live) if not error else live.session.installation.installed, error)
        if error:
            raise (Unavailable if outcome is None or any(sign in error for sign in _OFFLINE) else InvalidRequest)(error)
        return live.session

    async def _client(self, live: LiveSession, asked: list[str], index_url: str, wall_s: float, sink: Sink | None) -> Outcome:
        node = _kind(live.session.runtime) == requirements.NODE
        argv = (requirements.npm_install if node else requirements.pip_install)(
            self._node_bin if node else self._python, asked, index_url
        )
        return await live.home.command(self._command(live, argv, wall_s), sink)

    def _command(self, live: LiveSession, argv: tuple[str, ...], wall_s: float) -> Command:
        """Clients are large programs: they get as much memory as this server gives, whatever the session has."""
        options = self._ground.options
        limits = run_request.limits_of(live.session.resources, wall_s, options)
        memory_bytes = min(options.most_memory_bytes, max(GIB, live.session.resources.memory_bytes))
        env = {"PATH": f"{self._node_bin}:/usr/local/bin:/usr/bin:/bin"} if self._node_bin else {}
        return Command(argv, env=env, limits=limits.replace(memory_bytes=memory_bytes))

    async def _installed(self, live: LiveSession) -> tuple[InstalledDependency, ...]:
        node = _kind(live.session.runtime) == requirements.NODE
        argv = requirements.npm_list(self._node_bin) if node else requirements.pip_list(self._python)
        outcome = await live.home.command(self._command(live, argv, _LIST_WITHIN_S))
        found = (requirements.npm_listed if node else requirements.pip_listed)(outcome.stdout.text, timestamps.now_ms())
        before = {one.name: one for one in live.session.installation.installed}
        return tuple(
            before[one.name] if before.get(one.name, one).version == one.version and one.name in before else one for one in found
        )

    async def _begin(self, live: LiveSession, dependencies: Sequence[Dependency], index_url: str, told: AuditEntry) -> None:
        before = live.session.installation
        requested = {one.name: one for one in (*before.requested, *dependencies)}
        await self._write(
            live,
            dataclasses.replace(
                before,
                index_url=index_url or before.index_url,
                requested=tuple(requested.values()),
                state=InstallState.installing,
                error="",
                started_ms=timestamps.now_ms(),
                completed_ms=None,
            ),
            told,
        )

    async def _end(self, live: LiveSession, installed: tuple[InstalledDependency, ...], error: str) -> None:
        state = InstallState.failed if error else InstallState.completed
        await self._write(
            live,
            dataclasses.replace(
                live.session.installation, installed=installed, state=state, error=error, completed_ms=timestamps.now_ms()
            ),
        )
        if not error and _kind(live.session.runtime) == requirements.PYTHON:
            await self._tell_contexts(live)

    async def _tell_contexts(self, live: LiveSession) -> None:
        """Those that are up looked for packages before there were any."""
        code = (
            f"__import__('sys').path.append({PACKAGES_FOLDER!r}) if {PACKAGES_FOLDER!r} not in __import__('sys').path else None"
        )
        for one in live.contexts.values():
            if one.context.alive and not one.context.busy:
                await one.context.execute(code, wall_s=_PATH_WITHIN_S)

    async def _write(self, live: LiveSession, installation: Installation, told: AuditEntry | None = None) -> None:
        """Somebody else may have changed another part of the row meanwhile."""
        try:
            live.session = await self._ground.store.sessions.update(live.session, audit=told, installation=installation)
        except Conflict:
            latest = await self._ground.store.sessions.get(live.id)
            live.session = await self._ground.store.sessions.update(latest, audit=told, installation=installation)
        live.touch()

    def _error(self, outcome: Outcome, timeout_s: float) -> str:
        if outcome.ending is Ending.timed_out:
            return f"the packages were not installed within {timeout_s:g} s"
        said = "\n".join((outcome.stderr.text or outcome.stdout.text).strip().splitlines()[-_TOLD_LINES:])[:_MOST_TOLD]
        if any(sign in said for sign in _OFFLINE):
            return f"the index of packages cannot be reached: {said}"
        return f"the packages could not be installed: {said or outcome.message or outcome.ending}"


def _kind(runtime: str) -> str:
    return requirements.NODE if runtime.startswith("nodejs") else requirements.PYTHON
