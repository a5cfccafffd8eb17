"""A sandbox host with the configuration applied: default resources, environment, PATH and result cache."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.cache import CachedRuns
from sandbox_runtime.mcp.config import McpConfig, variables
from sandbox_runtime.mcp.config.model import DefaultResources
from sandbox_runtime.mcp.hosts.port import RunOutcome, RunSpec, SandboxHost, SandboxSpec, SandboxView, Sink

_DEFAULTS = McpConfig()


def configure_host(host: SandboxHost, config: McpConfig, cache: CachedRuns | None = None) -> SandboxHost:
    """Wrap the host. `cache`: answers cacheable runs."""
    return cast(SandboxHost, _ConfiguredHost(host, config, cache))


class _ConfiguredHost:
    def __init__(self, host: SandboxHost, config: McpConfig, cache: CachedRuns | None) -> None:
        self._host = host
        self._config = config
        self._section = config.tools.environment
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        """Delegate every other method to the wrapped host."""
        return getattr(self._host, name)

    async def create(self, spec: SandboxSpec) -> SandboxView:
        env = dict(spec.env)
        if self._section.default_shell != _DEFAULTS.tools.environment.default_shell:
            env = {"SHELL": self._section.default_shell, **env}
        if variables.extends_path(env):
            raise InvalidRequest("PATH of a sandbox cannot refer to $PATH; set PATH for single commands instead")
        if self._section.expand_variables and variables.has_references(env):
            env = variables.expand(env, {})
        return self._redact(await self._host.create(dataclasses.replace(spec, env=env, **self._resources(spec))))

    async def list(self) -> Sequence[SandboxView]:
        return [self._redact(view) for view in await self._host.list()]

    async def get(self, sandbox_id: str) -> SandboxView:
        return self._redact(await self._host.get(sandbox_id))

    async def fork(self, sandbox_id: str) -> SandboxView:
        return self._redact(await self._host.fork(sandbox_id))

    async def run(self, sandbox_id: str, spec: RunSpec, sink: Sink | None = None) -> RunOutcome:
        full_spec = self._with_path(await self._expand(sandbox_id, spec))
        if self._cache is not None and self._cache.applies_to(spec):
            return await self._cache.run(self._host, sandbox_id, full_spec, sink)
        return await self._host.run(sandbox_id, full_spec, sink)

    async def _expand(self, sandbox_id: str, spec: RunSpec) -> RunSpec:
        """Expand variables. Fetches the sandbox's own variables only if a value refers to one."""
        if not (self._section.expand_variables and variables.has_references(spec.env)):
            return spec
        known = (await self._host.get(sandbox_id)).env
        return dataclasses.replace(spec, env=variables.expand(spec.env, known))

    def _with_path(self, spec: RunSpec) -> RunSpec:
        extends = variables.extends_path(spec.env)
        if not spec.argv:
            if extends:
                raise InvalidRequest("PATH can refer to $PATH in exec_command only; give the full PATH here")
            return spec
        paths = self._section.custom_paths
        if not (paths or extends):
            return spec
        env = {name: value for name, value in spec.env.items() if name != variables.PATH or not value}
        argv = variables.with_path(spec.argv, paths, spec.env.get(variables.PATH, ""))
        return dataclasses.replace(spec, argv=argv, env=env)

    def _resources(self, spec: SandboxSpec) -> dict[str, Any]:
        """Return configured resources that the caller leaves out. Keys left at their default keep the product's own default."""
        configured, defaults = self._config.sandbox.default_resources, DefaultResources()
        resources: dict[str, Any] = {}
        if spec.cpu_cores is None and configured.cpu_limit != defaults.cpu_limit:
            resources["cpu_cores"] = float(configured.cpu_limit)
        if spec.memory_bytes is None and configured.memory_limit != defaults.memory_limit:
            resources["memory_bytes"] = configured.memory_limit
        if spec.disk_bytes is None and configured.disk_limit != defaults.disk_limit:
            resources["disk_bytes"] = configured.disk_limit
        return resources

    def _redact(self, view: SandboxView) -> SandboxView:
        return dataclasses.replace(view, env=variables.redact(view.env, self._section)) if view.env else view
