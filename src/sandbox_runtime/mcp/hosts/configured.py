"""A place as the configuration wants it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.cache import CachedRuns
from sandbox_runtime.mcp.config import McpConfig, environment
from sandbox_runtime.mcp.config.model import DefaultResources
from sandbox_runtime.mcp.hosts.port import Place, Ran, SandboxSpec, SandboxView, Sink, Work

_USUAL = McpConfig()


def configured(place: Place, config: McpConfig, cached: CachedRuns | None = None) -> Place:
    """cached: where results may be told again."""
    return cast(Place, _ConfiguredPlace(place, config, cached))


class _ConfiguredPlace:
    def __init__(self, place: Place, config: McpConfig, cached: CachedRuns | None) -> None:
        self._place = place
        self._config = config
        self._section = config.tools.environment
        self._cached = cached

    def __getattr__(self, name: str) -> Any:
        """Whatever else a place can do it does as it always does."""
        return getattr(self._place, name)

    async def create(self, spec: SandboxSpec) -> SandboxView:
        env = dict(spec.env)
        if self._section.default_shell != _USUAL.tools.environment.default_shell:
            env = {"SHELL": self._section.default_shell, **env}
        if environment.builds_on_path(env):
            raise InvalidRequest("PATH of a whole sandbox cannot build on $PATH: give it to single commands")
        if self._section.expand_variables and environment.refers(env):
            env = environment.expanded(env, {})
        return self._told(await self._place.create(dataclasses.replace(spec, env=env, **self._resources(spec))))

    async def list(self) -> Sequence[SandboxView]:
        return [self._told(view) for view in await self._place.list()]

    async def get(self, sandbox_id: str) -> SandboxView:
        return self._told(await self._place.get(sandbox_id))

    async def fork(self, sandbox_id: str) -> SandboxView:
        return self._told(await self._place.fork(sandbox_id))

    async def run(self, sandbox_id: str, work: Work, sink: Sink | None = None) -> Ran:
        whole = self._with_path(await self._expanded(sandbox_id, work))
        if self._cached is not None and self._cached.wanted(work):
            return await self._cached.run(self._place, sandbox_id, whole, sink)
        return await self._place.run(sandbox_id, whole, sink)

    async def _expanded(self, sandbox_id: str, work: Work) -> Work:
        """The sandbox is asked for its own variables only where somebody refers to one."""
        if not (self._section.expand_variables and environment.refers(work.env)):
            return work
        known = (await self._place.get(sandbox_id)).env
        return dataclasses.replace(work, env=environment.expanded(work.env, known))

    def _with_path(self, work: Work) -> Work:
        builds = environment.builds_on_path(work.env)
        if not work.argv:
            if builds:
                raise InvalidRequest("PATH can build on $PATH for commands alone: use exec_command, or name it whole")
            return work
        paths = self._section.custom_paths
        if not (paths or builds):
            return work
        env = {name: value for name, value in work.env.items() if name != environment.PATH or not value}
        argv = environment.with_path(work.argv, paths, work.env.get(environment.PATH, ""))
        return dataclasses.replace(work, argv=argv, env=env)

    def _resources(self, spec: SandboxSpec) -> dict[str, Any]:
        """Those of the configuration where the caller has no wish; left at their defaults, they are the product's own."""
        asked, usual = self._config.sandbox.default_resources, DefaultResources()
        given: dict[str, Any] = {}
        if spec.cpu_cores is None and asked.cpu_limit != usual.cpu_limit:
            given["cpu_cores"] = float(asked.cpu_limit)
        if spec.memory_bytes is None and asked.memory_limit != usual.memory_limit:
            given["memory_bytes"] = asked.memory_limit
        if spec.disk_bytes is None and asked.disk_limit != usual.disk_limit:
            given["disk_bytes"] = asked.disk_limit
        return given

    def _told(self, view: SandboxView) -> SandboxView:
        return dataclasses.replace(view, env=environment.hidden(view.env, self._section)) if view.env else view
