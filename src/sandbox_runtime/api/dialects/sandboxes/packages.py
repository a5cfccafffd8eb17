"""Install packages in a sandbox before a program runs, and run programs so that they find the installed ones."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator

from sandbox_runtime.api.dialects.sandboxes.execution import run_to_end
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import WORKSPACE, program_language, to_dependencies
from sandbox_runtime.api.dialects.sandboxes.schemas.executions import CodeRequest
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, SandboxError, Unavailable
from sandbox_runtime.languages.packages import (
    LaunchScript,
    PackageManager,
    find_package_manager,
    install_error,
    launch_script_for,
)
from sandbox_runtime.model import Execution, ExecutionKind
from sandbox_runtime.sessions import ExecutionSpec, Sessions

INSTALL_TIMEOUT_S = 300.0
PYTHON = "python"


async def install(sessions: Sessions, sandbox_id: str, body: CodeRequest, owner: str) -> None:
    """Install the packages of the request. Errors carry the message of the package manager."""
    language = program_language(body)
    if language == PYTHON:
        await sessions.install(sandbox_id, to_dependencies(body), timeout_s=INSTALL_TIMEOUT_S, owner=owner)
        return
    manager = _find_manager(language)
    script = manager.script(manager.parse_requirements(body.packages))
    if (await sessions.get(sandbox_id, owner)).network == "none":
        raise Conflict("packages cannot be installed: the sandbox has no network; create one with network_mode bridge")
    _check_installed(await run_to_end(sessions, sandbox_id, _shell_spec(script, INSTALL_TIMEOUT_S), owner))


def _find_manager(language: str) -> PackageManager:
    """Return the package manager of the language. Raises InvalidRequest if there is none."""
    try:
        return find_package_manager(language)
    except Unavailable as error:
        raise InvalidRequest(str(error)) from error


def _check_installed(execution: Execution) -> None:
    if execution.ending == "timed_out":
        raise InvalidRequest(f"the packages were not installed within {INSTALL_TIMEOUT_S:g} s")
    if execution.exit_code != 0:
        message = install_error(execution.stdout, execution.stderr or execution.error)
        raise (Unavailable if "cannot be reached" in message else InvalidRequest)(message)


async def find_launch(sessions: Sessions, sandbox_id: str, body: CodeRequest, owner: str) -> LaunchScript | None:
    """Return how to start the program with the installed packages, or None if it needs nothing special."""
    language = program_language(body)
    try:
        manager = find_package_manager(language)
        if not manager.needs_launch_script:
            return None
        await (await sessions.files.open(sandbox_id, owner)).stat(manager.listing)
    except (Unavailable, NotFound):
        return None  # no packages of that language, or no such sandbox, which the run will report
    return launch_script_for(language, {}, body.code)


@contextlib.asynccontextmanager
async def saved_program(
    sessions: Sessions, sandbox_id: str, launch: LaunchScript, body: CodeRequest, owner: str, *, keep: bool
) -> AsyncIterator[ExecutionSpec]:
    """Save the program in the sandbox, yield the spec that runs it, and delete it. With `keep` its script deletes it."""
    folder = f".lang_exec_{time.time_ns()}_{secrets.token_hex(2)}"
    files = await sessions.files.open(sandbox_id, owner)
    script = launch.script(WORKSPACE, f"{WORKSPACE}/{folder}")
    try:
        await files.write(f"{folder}/{launch.source}", body.code.encode(errors="surrogatepass"))
        yield _shell_spec(script, body.timeout, body)
    except BaseException:
        keep = False
        raise
    finally:
        if not keep:
            with contextlib.suppress(SandboxError):
                await asyncio.shield(files.delete(folder, recursive=True))


def _shell_spec(script: str, timeout_s: float, body: CodeRequest | None = None) -> ExecutionSpec:
    return ExecutionSpec(
        code="/bin/bash",
        args=("-c", script),
        kind=ExecutionKind.command,
        language="shell",
        stdin=None if body is None else body.input,
        env={} if body is None else body.environment,
        timeout_s=timeout_s,
    )
