"""Run a program in a sandbox: install packages, write files, choose how to start it."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.languages.packages import LaunchScript, launch_script_for
from sandbox_runtime.mcp.hosts.port import WORKSPACE, RunOutcome, RunSpec
from sandbox_runtime.mcp.tools import main_wrapper, packages, run
from sandbox_runtime.mcp.tools.arguments import check_code, resolve_name
from sandbox_runtime.mcp.tools.build_commands import launch_line
from sandbox_runtime.mcp.tools.tool import ToolContext

RUNTIME_NAMES = {"sh": "bash", "shell": "bash", "javascript": "javascript"}
COMMANDS = {
    "python": "python3 main.py", "javascript": "node main.js", "typescript": "tsx main.ts", "go": "go build main.go && ./main",
    "java": "javac Main.java && java Main", "c": "gcc main.c && ./a.out", "cpp": "g++ -std=c++17 main.cpp && ./a.out",
    "rust": "rustc main.rs && ./main", "csharp": "dotnet run", "bash": "bash main.sh", "zsh": "zsh main.sh",
    "fish": "fish main.fish",
}  # fmt: skip
"""The command shown for a program started without a launch script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    sandbox_id: str
    language: str
    code: str
    timeout_s: float
    folder: str = WORKSPACE
    needs_script: bool = False
    """Build and start with a launch script, which honours `options`."""
    options: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    packages: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None


async def run_program(ctx: ToolContext, program: Program) -> tuple[RunOutcome, str]:
    """Return the outcome and the command to show."""
    check_code(program.code)
    if program.packages:
        await packages.install(ctx, program.sandbox_id, program.language, program.packages, packages.INSTALL_S)
    await _write_files(ctx, program)
    code = main_wrapper.wrap_main(program.language, program.code)
    line = await _launch_script(ctx, program, code)
    if line is None:
        language = RUNTIME_NAMES.get(program.language, program.language)
        spec = RunSpec(language=language, code=code, stdin=program.stdin, env=program.env, timeout_s=program.timeout_s)
        return await run.run(ctx, program.sandbox_id, spec), COMMANDS.get(language, language)
    return await _run_script(ctx, program, line, code), line.display


async def _launch_script(ctx: ToolContext, program: Program, code: str) -> LaunchScript | None:
    """Return the launch script, or None if the host's own way to run the language suffices."""
    if await packages.needed_kit(ctx, program.sandbox_id, program.language):
        return launch_script_for(program.language, program.options, code)
    return launch_line(program.language, program.options) if program.needs_script or program.folder != WORKSPACE else None


async def _run_script(ctx: ToolContext, program: Program, line: LaunchScript, code: str) -> RunOutcome:
    """Run the script. It removes its folder when it ends; if it is killed, the folder is removed here."""
    folder = f".lang_exec_{time.time_ns()}_{secrets.token_hex(2)}"
    script = line.script(program.folder, f"{WORKSPACE}/{folder}")
    spec = RunSpec(argv=("/bin/bash", "-c", script), stdin=program.stdin, env=program.env, timeout_s=program.timeout_s)
    try:
        await ctx.host.write(program.sandbox_id, f"{folder}/{line.source}", code.encode(errors="surrogatepass"))
        return await run.run(ctx, program.sandbox_id, spec)
    finally:
        with anyio.CancelScope(shield=True), contextlib.suppress(SandboxError):
            await ctx.host.remove(program.sandbox_id, folder)


async def _write_files(ctx: ToolContext, program: Program) -> None:
    max_files = ctx.config.resources.max_files
    if len(program.files) > max_files:
        raise InvalidRequest(f"{len(program.files)} files exceed the limit of {max_files} (resources.max_files)")
    for path, content in program.files.items():
        raw = content.encode(errors="surrogatepass")
        if len(raw) > ctx.config.resources.max_file_size:
            raise InvalidRequest(
                f"the file {path[:200]!r} has {len(raw)} bytes; the limit is {ctx.config.resources.max_file_size}"
            )
        below = program.folder if program.folder.startswith(WORKSPACE) else WORKSPACE
        await ctx.host.write(program.sandbox_id, resolve_name(f"{below}/{path}"), raw)
