"""A program on its way into a sandbox: files beside it, packages for it, and the way its language is run."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.mcp.places.port import WORKSPACE, Ran, Work
from sandbox_runtime.mcp.tools import codes, running, wrapping
from sandbox_runtime.mcp.tools.lines import Line, line_of
from sandbox_runtime.mcp.tools.tool import Call
from sandbox_runtime.mcp.tools.wishes import check_code, name_of

USUAL_NAMES = {"sh": "bash", "shell": "bash", "javascript": "javascript"}
COMMANDS = {
    "python": "python3 main.py", "javascript": "node main.js", "typescript": "tsx main.ts", "go": "go build main.go && ./main",
    "java": "javac Main.java && java Main", "c": "gcc main.c && ./a.out", "cpp": "g++ -std=c++17 main.cpp && ./a.out",
    "rust": "rustc main.rs && ./main", "csharp": "dotnet run", "bash": "bash main.sh", "zsh": "zsh main.sh",
    "fish": "fish main.fish",
}  # fmt: skip
"""What is told where a language is run its usual way."""
_INSTALL_S = 300.0


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
    await _install(call, program)
    await _place_files(call, program)
    code = wrapping.whole(program.language, program.code)
    if not program.by_line and program.folder == WORKSPACE:
        language = USUAL_NAMES.get(program.language, program.language)
        work = Work(language=language, code=code, stdin=program.stdin, env=program.env, timeout_s=program.timeout_s)
        return await running.run(call, program.sandbox_id, work), COMMANDS.get(language, language)
    line = line_of(program.language, program.options)
    return await _by_line(call, program, line, code), line.shown


async def _by_line(call: Call, program: Program, line: Line, code: str) -> Ran:
    folder = f".lang_exec_{time.time_ns()}_{secrets.token_hex(2)}"
    await call.place.write(program.sandbox_id, f"{folder}/{line.source}", code.encode(errors="surrogatepass"))
    script = line.script(program.folder, f"{WORKSPACE}/{folder}")
    work = Work(argv=("/bin/bash", "-c", script), stdin=program.stdin, env=program.env, timeout_s=program.timeout_s)
    return await running.run(call, program.sandbox_id, work)


async def _install(call: Call, program: Program) -> None:
    if not program.packages:
        return
    if program.language != "python":
        raise codes.ToolFailure(
            codes.PACKAGE_INSTALL_FAILED,
            f"packages can be installed for Python alone; for {program.language}, use what is in the sandbox already",
        )
    try:
        await call.place.install(program.sandbox_id, [requirement(one) for one in program.packages], _INSTALL_S)
    except SandboxError as error:
        raise codes.ToolFailure(codes.PACKAGE_INSTALL_FAILED, str(error)) from error


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


def requirement(text: str) -> tuple[str, str]:
    """numpy, numpy==2.1, numpy>=2: the name, and what its version must be."""
    at = next((place for place, letter in enumerate(text) if letter in "=<>!~"), len(text))
    return text[:at].strip(), text[at:].strip()
