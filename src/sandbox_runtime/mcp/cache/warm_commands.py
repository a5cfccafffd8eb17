"""Run the warm commands once at start-up, in their own sandbox, so that the first caller gets a cached result."""

from __future__ import annotations

import shlex
import uuid

from sandbox_runtime.errors import SandboxError
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import WORKSPACE, RunSpec, SandboxHost, SandboxSpec
from sandbox_runtime.telemetry import Log

MAX_COMMANDS = 100


def warm_commands(config: McpConfig) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(shlex.split(command)) for command in config.tools.cache.warm_commands[:MAX_COMMANDS])


async def warm_up(host: SandboxHost, config: McpConfig, log: Log) -> None:
    """Run the commands on `host`, whose results are shared. Failures are logged; such commands run when first called."""
    env = {name: value for name, value in config.sandbox.environment.items() if name != "PATH"}
    network = "none" if config.sandbox.network_mode == "none" else "nat"
    try:
        sandbox = await host.create(SandboxSpec(id=str(uuid.uuid4()), env=env, network=network))
    except SandboxError as error:
        log.warning("warm_commands could not be run", reason=str(error))
        return
    try:
        for words in sorted(warm_commands(config)):
            spec = RunSpec(argv=("/usr/bin/env", "-C", WORKSPACE, *words), timeout_s=config.tools.default_timeout)
            outcome = await host.run(sandbox.id, spec)
            if not outcome.ok:
                log.warning("a command of warm_commands failed: its result is not kept", command=shlex.join(words))
    except SandboxError as error:
        log.warning("warm_commands could not all be run", reason=str(error))
    finally:
        await host.terminate(sandbox.id)
