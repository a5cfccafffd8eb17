"""Installs packages into a session with the package client of its runtime, in a box on the session's files.

The client runs like any program of the session: it needs a network that programs may use, and what a package does while it is
installed affects only the session. The result is stored in the session's row.
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
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions import run_request
from sandbox_runtime.sessions.packages import requirements
from sandbox_runtime.sessions.registry import PACKAGES_FOLDER, LiveSession
from sandbox_runtime.sessions.specs import MAX_DEPENDENCIES

_LIST_WITHIN_S = 60.0
_ERROR_LINES = 20
_PATH_WITHIN_S = 10.0
_MAX_ERROR_CHARACTERS = MESSAGE_BYTES // 8
_OFFLINE = (
    "Temporary failure in name resolution",
    "Name or service not known",
    "Network is unreachable",
    "EAI_AGAIN",
    "ENOTFOUND",
)


class PackageInstaller:
    """- python, node_bin: interpreter and Node.js folder as boxes see them.
    - network: whether programs have one.
    - index_url: the package index of sessions that set none.
    """

    def __init__(self, deps: SessionDeps, python: str, node_bin: str, *, network: bool, index_url: str = "") -> None:
        self._deps = deps
        self._python = python
        self._node_bin = node_bin
        self._network = network
        self._index_url = index_url

    def check(self, dependencies: Sequence[Dependency], index_url: str, runtime: str) -> list[str]:
        """Return the requirements for the package client. Raises InvalidRequest or Unavailable if they cannot be installed."""
        if not 1 <= len(dependencies) <= MAX_DEPENDENCIES:
            raise InvalidRequest(f"1 to {MAX_DEPENDENCIES} packages can be installed at once, not {len(dependencies)}")
        if index_url:
            requirements.check_index(index_url)
        packages = [requirements.to_requirement(dependency, _kind(runtime)) for dependency in dependencies]
        if not self._network:
            raise Unavailable(
                "packages cannot be installed: programs have no network here. Set allow_network, or install them into the "
                "guest interpreter for all sessions"
            )
        if _kind(runtime) == requirements.NODE and not self._node_bin:
            raise Unavailable("npm is not installed: run sandbox languages install nodejs")
        return packages

    async def install(
        self,
        live: LiveSession,
        dependencies: Sequence[Dependency],
        index_url: str = "",
        timeout_s: float = 300.0,
        sink: Sink | None = None,
        actor: str = "",
    ) -> Session:
        """Install packages and return the session. Raises InvalidRequest or Unavailable with the output of the client if it
        failed."""
        packages = self.check(dependencies, index_url, live.session.runtime)
        if live.session.network == "none":
            raise Conflict(f"packages cannot be installed: the session {live.id!r} was created without a network")
        async with live.change_lock:
            if live.closing:
                raise Conflict(f"the session {live.id!r} is ending")
            await self._begin(live, dependencies, index_url, entry(actor, "install", "session", live.id, packages=packages))
            try:
                outcome = await self._run_client(live, packages, index_url or self._index_url, timeout_s, sink)
                error = "" if outcome.ok else self._error_text(outcome, timeout_s)
            except (PlatformFault, Unavailable) as fault:
                outcome, error = None, str(fault)
            await self._end(live, await self._list_installed(live) if not error else live.session.installation.installed, error)
        if error:
            raise (Unavailable if outcome is None or any(sign in error for sign in _OFFLINE) else InvalidRequest)(error)
        return live.session

    async def _run_client(
        self, live: LiveSession, packages: list[str], index_url: str, wall_s: float, sink: Sink | None
    ) -> Outcome:
        node = _kind(live.session.runtime) == requirements.NODE
        argv = (requirements.npm_install if node else requirements.pip_install)(
            self._node_bin if node else self._python, packages, index_url
        )
        return await live.environment.command(self._command(live, argv, wall_s), sink)

    def _command(self, live: LiveSession, argv: tuple[str, ...], wall_s: float) -> Command:
        """Return the client's command. It gets at least 1 GiB of memory, as far as the options allow: clients are large
        programs."""
        options = self._deps.options
        limits = run_request.build_limits(live.session.resources, wall_s, options)
        memory_bytes = min(options.max_memory_bytes, max(GIB, live.session.resources.memory_bytes))
        env = {"PATH": f"{self._node_bin}:/usr/local/bin:/usr/bin:/bin"} if self._node_bin else {}
        return Command(argv, env=env, limits=limits.replace(memory_bytes=memory_bytes))

    async def _list_installed(self, live: LiveSession) -> tuple[InstalledDependency, ...]:
        node = _kind(live.session.runtime) == requirements.NODE
        argv = requirements.npm_list(self._node_bin) if node else requirements.pip_list(self._python)
        outcome = await live.environment.command(self._command(live, argv, _LIST_WITHIN_S))
        listed = (requirements.parse_npm_list if node else requirements.parse_pip_list)(outcome.stdout.text, timestamps.now_ms())
        before = {package.name: package for package in live.session.installation.installed}
        return tuple(
            before[package.name]
            if before.get(package.name, package).version == package.version and package.name in before
            else package
            for package in listed
        )

    async def _begin(self, live: LiveSession, dependencies: Sequence[Dependency], index_url: str, audit: AuditEntry) -> None:
        before = live.session.installation
        requested = {package.name: package for package in (*before.requested, *dependencies)}
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
            audit,
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
            await self._add_to_path(live)

    async def _add_to_path(self, live: LiveSession) -> None:
        """Make the packages importable in live interpreters, which were started without the folder."""
        code = (
            f"__import__('sys').path.append({PACKAGES_FOLDER!r}) if {PACKAGES_FOLDER!r} not in __import__('sys').path else None"
        )
        for context in live.contexts.values():
            if context.interpreter.alive and not context.interpreter.busy:
                await context.interpreter.execute(code, wall_s=_PATH_WITHIN_S)

    async def _write(self, live: LiveSession, installation: Installation, audit: AuditEntry | None = None) -> None:
        """Store the installation; on a conflict with another change of the row, once more on the latest row."""
        try:
            live.session = await self._deps.store.sessions.update(live.session, audit=audit, installation=installation)
        except Conflict:
            latest = await self._deps.store.sessions.get(live.id)
            live.session = await self._deps.store.sessions.update(latest, audit=audit, installation=installation)
        live.touch()

    def _error_text(self, outcome: Outcome, timeout_s: float) -> str:
        if outcome.ending is Ending.timed_out:
            return f"the packages were not installed within {timeout_s:g} s"
        output = "\n".join((outcome.stderr.text or outcome.stdout.text).strip().splitlines()[-_ERROR_LINES:])[
            :_MAX_ERROR_CHARACTERS
        ]
        if any(sign in output for sign in _OFFLINE):
            return f"the package index cannot be reached: {output}"
        return f"the packages could not be installed: {output or outcome.message or outcome.ending}"


def _kind(runtime: str) -> str:
    return requirements.NODE if runtime.startswith("nodejs") else requirements.PYTHON
