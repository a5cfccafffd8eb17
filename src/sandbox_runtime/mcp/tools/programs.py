"""A program on its way into a sandbox: files beside it, packages for it, and the way its language is run."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.languages.packages import Line, line_with_packages
from sandbox_runtime.mcp.hosts.port import WORKSPACE, Ran, Work
from sandbox_runtime.mcp.tools import main_wrapper, packages, run
from sandbox_runtime.mcp.tools.arguments import check_code, name_of
from sandbox_runtime.mcp.tools.build_commands import line_of
from sandbox_runtime.mcp.tools.tool import Call

USUAL_NAMES = {"sh": "bash", "shell": "bash", "javascript": "javascript"}
COMMANDS = {
    "python": "python3 main.py", "javascript": "node main.js", "typescript": "tsx main.ts", "go": "go build main.go && ./main",
    "java": "javac Main.java && java Main", "c": "gcc main.c && ./a.out", "cpp": "g++ -std=c++17 main.cpp && ./a.out",
    "rust": "rustc main.rs && ./main", "csharp": "dotnet run", "bash": "bash main.sh", "zsh": "zsh main.sh",
    "fish": "fish main.fish",
}  # fmt: skip
"""What is told where a language is run its usual way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """by_line: it is built and started by a script, with these options, instead of in its language's usual way."""

    sandbox_id: str
    language: str
    code: str
    timeout_s: float
    folder: str = WORKSPACE
    by_line: bool = False
    options: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    packages: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None


async def run_program(call: Call, program: Program) -> tuple[Ran, str]:
    """And the command that was used, as it would be typed."""
    check_code(program.code)
    if program.packages:
        await packages.install(call, program.sandbox_id, program.language, program.packages, packages.INSTALL_S)
    await _place_files(call, program)
    code = main_wrapper.whole(program.language, program.code)
    line = await _line(call, program, code)
    if line is None:
        language = USUAL_NAMES.get(program.language, program.language)
        work = Work(language=language, code=code, stdin=program.stdin, env=program.env, timeout_s=program.timeout_s)
        return await run.run(call, program.sandbox_id, work), COMMANDS.get(language, language)
    return await _by_line(call, program, line, code), line.shown


async def _line(call: Call, program: Program, code: str) -> Line | None:
    """None where the language's usual way will do."""
    if await packages.needed_kit(call, program.sandbox_id, program.language):
        return line_with_packages(program.language, program.options, code)
    return line_of(program.language, program.options) if program.by_line or program.folder != WORKSPACE else None


async def _by_line(call: Call, program: Program, line: Line, code: str) -> Ran:
    """The script removes its folder when it ends; one that was killed leaves that to us."""
    folder = f".lang_exec_{time.time_ns()}_{secrets.token_hex(2)}"
    script = line.script(program.folder, f"{WORKSPACE}/{folder}")
    work = Work(argv=("/bin/bash", "-c", script), stdin=program.stdin, env=program.env, timeout_s=program.timeout_s)
    try:
        await call.place.write(program.sandbox_id, f"{folder}/{line.source}", code.encode(errors="surrogatepass"))
        return await run.run(call, program.sandbox_id, work)
    finally:
        with anyio.CancelScope(shield=True), contextlib.suppress(SandboxError):
            await call.place.remove(program.sandbox_id, folder)


async def _place_files(call: Call, program: Program) -> None:
    most = call.config.resources.max_files
    if len(program.files) > most:
        raise InvalidRequest(f"{len(program.files)} files are more than the {most} that one call may bring")
    for path, content in program.files.items():
        raw = content.encode(errors="surrogatepass")
        if len(raw) > call.config.resources.max_file_size:
            raise InvalidRequest(
                f"the file {path[:200]!r} has {len(raw)} bytes; {call.config.resources.max_file_size} are allowed"
            )
        below = program.folder if program.folder.startswith(WORKSPACE) else WORKSPACE
        await call.place.write(program.sandbox_id, name_of(f"{below}/{path}"), raw)
