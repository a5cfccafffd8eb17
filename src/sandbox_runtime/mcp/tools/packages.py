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
from sandbox_runtime.mcp.hosts.port import RunSpec
from sandbox_runtime.mcp.tools import error_codes, run
from sandbox_runtime.mcp.tools.tool import ToolContext

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


async def install(ctx: ToolContext, sandbox_id: str, language: str, packages: Sequence[str], timeout_s: float) -> Sequence[str]:
    """What is there afterwards. Raises ToolFailure with the client's own words."""
    kit = None if language == PYTHON else _kit(language)
    names = list(packages) if kit is None else kit.asked(packages)
    await _check_network(ctx, sandbox_id)
    if ctx.sink is not None:
        ctx.sink("stdout", f"Installing {', '.join(packages)}\n")
    if kit is None:
        return await _install_on_host(ctx, sandbox_id, names, timeout_s)
    return await _install_with_client(ctx, sandbox_id, kit, names, timeout_s)


async def needed_kit(ctx: ToolContext, sandbox_id: str, language: str) -> Kit | None:
    """The client by which this sandbox has packages of a language whose programs do not find them by themselves."""
    try:
        kit = kit_of(language)
    except Unavailable:
        return None
    return kit if kit.own_way and await _has_listing(ctx, sandbox_id, kit) else None


async def _has_listing(ctx: ToolContext, sandbox_id: str, kit: Kit) -> bool:
    try:
        return not (await ctx.host.stat(sandbox_id, kit.listing)).is_folder
    except NotFound:
        return False


def _kit(language: str) -> Kit:
    try:
        return kit_of(language)
    except Unavailable as error:
        raise error_codes.ToolFailure(error_codes.PACKAGE_INSTALL_FAILED, str(error)) from error


async def _check_network(ctx: ToolContext, sandbox_id: str) -> None:
    if (await ctx.host.get(sandbox_id)).network == "none":
        raise error_codes.ToolFailure(
            error_codes.PACKAGE_INSTALL_FAILED,
            "packages cannot be installed: this sandbox was made without a network. Make one with network_mode bridge, where its "
            "host allows that (SANDBOX_ALLOW_NETWORK), or bring what the program needs as files",
        )


async def _install_on_host(ctx: ToolContext, sandbox_id: str, packages: Sequence[str], timeout_s: float) -> Sequence[str]:
    try:
        return await ctx.host.install(sandbox_id, [split_requirement(one) for one in packages], timeout_s, ctx.sink)
    except NotFound:
        raise
    except SandboxError as error:
        raise error_codes.ToolFailure(error_codes.PACKAGE_INSTALL_FAILED, str(error)) from error


async def _install_with_client(
    ctx: ToolContext, sandbox_id: str, kit: Kit, names: Sequence[str], timeout_s: float
) -> Sequence[str]:
    outcome = await run.run(ctx, sandbox_id, RunSpec(argv=("/bin/bash", "-c", kit.script(names)), timeout_s=timeout_s))
    if outcome.timed_out:
        raise error_codes.ToolFailure(
            error_codes.PACKAGE_INSTALL_FAILED, f"the packages were not installed within {timeout_s:g} s"
        )
    if not outcome.ok:
        raise error_codes.ToolFailure(error_codes.PACKAGE_INSTALL_FAILED, said(outcome.stdout, outcome.stderr or outcome.error))
    return listed(await ctx.host.read(sandbox_id, kit.listing, LISTING_BYTES))


def split_requirement(text: str) -> tuple[str, str]:
    """numpy, numpy==2.1, numpy>=2: the name, and what its version must be."""
    at = next((host for host, letter in enumerate(text) if letter in "=<>!~"), len(text))
    return text[:at].strip(), text[at:].strip()
