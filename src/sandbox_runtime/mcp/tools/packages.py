"""Packages into a sandbox: those of Python by its host, those of other languages by their clients, started in the sandbox itself.

Both need a network that the sandbox was made with. What comes of it stays in the sandbox, for everything that runs there later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from sandbox_runtime.errors import NotFound, SandboxError, Unavailable
from sandbox_runtime.languages.packages import Kit, kit_of, listed, said
from sandbox_runtime.languages.packages.kit import LISTING_BYTES, MOST_CHARACTERS, MOST_PACKAGES
from sandbox_runtime.mcp.hosts.port import Work
from sandbox_runtime.mcp.tools import error_codes, run
from sandbox_runtime.mcp.tools.tool import Call

PYTHON = "python"
INSTALL_S = 300.0
Packages = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS)]],
    Field(
        max_length=MOST_PACKAGES,
        description="Names, with a version where wanted, as the language's own client writes them. Python: numpy, numpy==2.1. "
        "JavaScript and TypeScript: lodash@4. Go: example.com/module@v1.2.3. Rust: serde[derive]@1. Java: group:artifact:1.0. "
        "C#: Newtonsoft.Json@13.0.3.",
    ),
]


async def install(call: Call, sandbox_id: str, language: str, packages: Sequence[str], timeout_s: float) -> Sequence[str]:
    """What is there afterwards. Raises ToolFailure with the client's own words."""
    kit = None if language == PYTHON else _kit(language)
    asked = list(packages) if kit is None else kit.asked(packages)
    await _check_network(call, sandbox_id)
    if call.sink is not None:
        call.sink("stdout", f"Installing {', '.join(packages)}\n")
    if kit is None:
        return await _by_host(call, sandbox_id, asked, timeout_s)
    return await _by_client(call, sandbox_id, kit, asked, timeout_s)


async def needed_kit(call: Call, sandbox_id: str, language: str) -> Kit | None:
    """The client by which this sandbox has packages of a language whose programs do not find them by themselves."""
    try:
        kit = kit_of(language)
    except Unavailable:
        return None
    return kit if kit.own_way and await _has_listing(call, sandbox_id, kit) else None


async def _has_listing(call: Call, sandbox_id: str, kit: Kit) -> bool:
    try:
        return not (await call.place.stat(sandbox_id, kit.listing)).is_folder
    except NotFound:
        return False


def _kit(language: str) -> Kit:
    try:
        return kit_of(language)
    except Unavailable as error:
        raise error_codes.ToolFailure(error_codes.PACKAGE_INSTALL_FAILED, str(error)) from error


async def _check_network(call: Call, sandbox_id: str) -> None:
    if (await call.place.get(sandbox_id)).network == "none":
        raise error_codes.ToolFailure(
            error_codes.PACKAGE_INSTALL_FAILED,
            "packages cannot be installed: this sandbox was made without a network. Make one with network_mode bridge, where its "
            "host allows that (SANDBOX_ALLOW_NETWORK), or bring what the program needs as files",
        )


async def _by_host(call: Call, sandbox_id: str, packages: Sequence[str], timeout_s: float) -> Sequence[str]:
    try:
        return await call.place.install(sandbox_id, [requirement(one) for one in packages], timeout_s, call.sink)
    except NotFound:
        raise
    except SandboxError as error:
        raise error_codes.ToolFailure(error_codes.PACKAGE_INSTALL_FAILED, str(error)) from error


async def _by_client(call: Call, sandbox_id: str, kit: Kit, asked: Sequence[str], timeout_s: float) -> Sequence[str]:
    ran = await run.run(call, sandbox_id, Work(argv=("/bin/bash", "-c", kit.script(asked)), timeout_s=timeout_s))
    if ran.timed_out:
        raise error_codes.ToolFailure(
            error_codes.PACKAGE_INSTALL_FAILED, f"the packages were not installed within {timeout_s:g} s"
        )
    if not ran.ok:
        raise error_codes.ToolFailure(error_codes.PACKAGE_INSTALL_FAILED, said(ran.stdout, ran.stderr or ran.error))
    return listed(await call.place.read(sandbox_id, kit.listing, LISTING_BYTES))


def requirement(text: str) -> tuple[str, str]:
    """numpy, numpy==2.1, numpy>=2: the name, and what its version must be."""
    at = next((place for place, letter in enumerate(text) if letter in "=<>!~"), len(text))
    return text[:at].strip(), text[at:].strip()
