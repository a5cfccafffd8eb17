"""Packages for programs: installed before one runs, and found by those of the same sandbox that run later."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator

from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.execution import ran
from sandbox_runtime.api.dialects.sandboxes.mapping import requests
from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, SandboxError, Unavailable
from sandbox_runtime.languages.packages import Kit, Line, kit_of, line_with_packages, said
from sandbox_runtime.model import Execution, ExecutionKind
from sandbox_runtime.sessions import ExecutionSpec, Sessions

INSTALL_S = 300.0
PYTHON = "python"


async def install(sessions: Sessions, sandbox_id: str, asked: schemas.Code, owner: str) -> None:
    """Those that are asked for, of the program's language. Raises with the client's own words."""
    language = requests.spoken_language(asked)
    if language == PYTHON:
        await sessions.install(sandbox_id, requests.dependencies_of(asked), timeout_s=INSTALL_S, owner=owner)
        return
    kit = _kit(language)
    script = kit.script(kit.asked(asked.packages))
    if (await sessions.get(sandbox_id, owner)).network == "none":
        raise Conflict("packages cannot be installed: the sandbox was made without a network; make one with network_mode bridge")
    _check(await ran(sessions, sandbox_id, _shell(script, INSTALL_S), owner))


def _kit(language: str) -> Kit:
    """What cannot be had is a mistake in the request."""
    try:
        return kit_of(language)
    except Unavailable as error:
        raise InvalidRequest(str(error)) from error


def _check(execution: Execution) -> None:
    if execution.ending == "timed_out":
        raise InvalidRequest(f"the packages were not installed within {INSTALL_S:g} s")
    if execution.exit_code != 0:
        told = said(execution.stdout, execution.stderr or execution.error)
        raise (Unavailable if "cannot be reached" in told else InvalidRequest)(told)


async def line_of(sessions: Sessions, sandbox_id: str, asked: schemas.Code, owner: str) -> Line | None:
    """How the program is started where its language has packages in this sandbox; None: in its usual way."""
    language = requests.spoken_language(asked)
    try:
        kit = kit_of(language)
        if not kit.own_way:
            return None
        await (await sessions.files.open(sandbox_id, owner)).stat(kit.listing)
    except (Unavailable, NotFound):
        return None  # no packages of that language, or a sandbox that is not there: whoever runs something in it is told so
    return line_with_packages(language, {}, asked.code)


@contextlib.asynccontextmanager
async def placed(
    sessions: Sessions, sandbox_id: str, line: Line, asked: schemas.Code, owner: str, *, stays: bool
) -> AsyncIterator[ExecutionSpec]:
    """What to run while the program lies there. stays: its script removes it when it ends."""
    folder = f".lang_exec_{time.time_ns()}_{secrets.token_hex(2)}"
    files = await sessions.files.open(sandbox_id, owner)
    script = line.script(requests.WORKSPACE, f"{requests.WORKSPACE}/{folder}")
    try:
        await files.write(f"{folder}/{line.source}", asked.code.encode(errors="surrogatepass"))
        yield _shell(script, asked.timeout, asked)
    except BaseException:
        stays = False
        raise
    finally:
        if not stays:
            with contextlib.suppress(SandboxError):
                await asyncio.shield(files.delete(folder, recursive=True))


def _shell(script: str, timeout_s: float, asked: schemas.Code | None = None) -> ExecutionSpec:
    return ExecutionSpec(
        code="/bin/bash",
        args=("-c", script),
        kind=ExecutionKind.command,
        language="shell",
        stdin=None if asked is None else asked.input,
        env={} if asked is None else asked.environment,
        timeout_s=timeout_s,
    )
