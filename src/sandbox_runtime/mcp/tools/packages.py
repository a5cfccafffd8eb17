"""install_packages, and installation for the run_ tools.

The host installs Python packages; the language's own client, started in the sandbox, installs all others. Both require a sandbox
with a network. Installed packages stay in the sandbox for everything that runs there later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from sandbox_runtime.errors import NotFound, SandboxError, Unavailable
from sandbox_runtime.languages.packages import PackageManager, find_package_manager, install_error, parse_listing
from sandbox_runtime.languages.packages.package_manager import LISTING_BYTES, MAX_CHARACTERS, MAX_PACKAGES
from sandbox_runtime.mcp.hosts.port import RunSpec
from sandbox_runtime.mcp.tools import error_codes, run
from sandbox_runtime.mcp.tools.arguments import LanguageName, SandboxId
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Result, Tool, ToolContext, ToolResponse

PYTHON = "python"
INSTALL_S = 300.0
Packages = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS)]],
    Field(
        max_length=MAX_PACKAGES,
        description="Names, optionally with a version, in the syntax of the language's client. Python: numpy, numpy==2.1. "
        "JavaScript and TypeScript: lodash@4. Go: example.com/module@v1.2.3. Rust: serde[derive]@1. Java: group:artifact:1.0. "
        "C#: Newtonsoft.Json@13.0.3.",
    ),
]


class InstallArguments(Arguments):
    sandbox_id: SandboxId
    packages: Annotated[Packages, Field(min_length=1)]
    language: Annotated[LanguageName, Field(description="The language of the packages.")] = "python"
    timeout: Annotated[int, Field(ge=1, le=1800, description="Seconds.")] = 300


class InstallResult(Result):
    sandbox_id: str
    installed: list[str]


async def install_packages(ctx: ToolContext, arguments: InstallArguments) -> ToolResponse:
    sandbox_id = arguments.sandbox_id.lower()
    installed = await install(ctx, sandbox_id, arguments.language, arguments.packages, float(arguments.timeout))
    result = InstallResult(sandbox_id=sandbox_id, installed=sorted(installed))
    return ToolResponse(f"Installed: {', '.join(arguments.packages)}", result, result.model_dump())


async def install(ctx: ToolContext, sandbox_id: str, language: str, packages: Sequence[str], timeout_s: float) -> Sequence[str]:
    """Install and return all installed packages. Raises ToolFailure with the client's message."""
    kit = None if language == PYTHON else _kit(language)
    names = list(packages) if kit is None else kit.parse_requirements(packages)
    await _check_network(ctx, sandbox_id)
    if ctx.sink is not None:
        ctx.sink("stdout", f"Installing {', '.join(packages)}\n")
    if kit is None:
        return await _install_on_host(ctx, sandbox_id, names, timeout_s)
    return await _install_with_client(ctx, sandbox_id, kit, names, timeout_s)


async def needed_kit(ctx: ToolContext, sandbox_id: str, language: str) -> PackageManager | None:
    """Return the package client if this sandbox has packages that programs of the language find by a launch script only."""
    try:
        kit = find_package_manager(language)
    except Unavailable:
        return None
    return kit if kit.needs_launch_script and await _has_listing(ctx, sandbox_id, kit) else None


async def _has_listing(ctx: ToolContext, sandbox_id: str, kit: PackageManager) -> bool:
    try:
        return not (await ctx.host.stat(sandbox_id, kit.listing)).is_folder
    except NotFound:
        return False


def _kit(language: str) -> PackageManager:
    try:
        return find_package_manager(language)
    except Unavailable as error:
        raise error_codes.ToolFailure(error_codes.PACKAGE_INSTALL_FAILED, str(error)) from error


async def _check_network(ctx: ToolContext, sandbox_id: str) -> None:
    if (await ctx.host.get(sandbox_id)).network == "none":
        raise error_codes.ToolFailure(
            error_codes.PACKAGE_INSTALL_FAILED,
            "cannot install packages: this sandbox has no network. Create one with network_mode bridge, if the host allows it "
            "(SANDBOX_ALLOW_NETWORK), or upload what the program needs as files",
        )


async def _install_on_host(ctx: ToolContext, sandbox_id: str, packages: Sequence[str], timeout_s: float) -> Sequence[str]:
    try:
        return await ctx.host.install(sandbox_id, [split_requirement(package) for package in packages], timeout_s, ctx.sink)
    except NotFound:
        raise
    except SandboxError as error:
        raise error_codes.ToolFailure(error_codes.PACKAGE_INSTALL_FAILED, str(error)) from error


async def _install_with_client(
    ctx: ToolContext, sandbox_id: str, kit: PackageManager, names: Sequence[str], timeout_s: float
) -> Sequence[str]:
    outcome = await run.run(ctx, sandbox_id, RunSpec(argv=("/bin/bash", "-c", kit.script(names)), timeout_s=timeout_s))
    if outcome.timed_out:
        raise error_codes.ToolFailure(
            error_codes.PACKAGE_INSTALL_FAILED, f"the packages were not installed within {timeout_s:g} s"
        )
    if not outcome.ok:
        raise error_codes.ToolFailure(
            error_codes.PACKAGE_INSTALL_FAILED, install_error(outcome.stdout, outcome.stderr or outcome.error)
        )
    return parse_listing(await ctx.host.read(sandbox_id, kit.listing, LISTING_BYTES))


def split_requirement(text: str) -> tuple[str, str]:
    """Split "numpy>=2" into name and version specifier."""
    at = next((index for index, letter in enumerate(text) if letter in "=<>!~"), len(text))
    return text[:at].strip(), text[at:].strip()


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "install_packages",
        "Install packages",
        "Installs packages of a language in a sandbox that has a network, for everything that runs in it later.",
        InstallArguments,
        InstallResult,
        install_packages,
        {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True},
    ),
)
