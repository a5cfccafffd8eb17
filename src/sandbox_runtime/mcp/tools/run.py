"""Shared by all tools that run something: the run, its output limit, and its response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import Field

from sandbox_runtime.mcp.hosts.port import RunOutcome, RunSpec
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.tool import Image, Result, ToolContext, ToolResponse

_COMPILED = frozenset({"c", "cpp", "rust", "java", "go", "csharp", "typescript"})
_COMPILER_ERROR = re.compile(r"^error(\[E\d+\])?[: ]|undefined reference", re.MULTILINE)
_SOURCE_POSITION = re.compile(r"(?:main\.(?:c|cpp|go|ts)|\w\.(?:java|cs))[:(]\d")
_ERROR_WORD = re.compile(r"\b(?:error|undefined|declared)\b")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_MAX_IMAGES = 20


class RunResult(Result):
    sandbox_id: str
    exit_code: int | None = Field(description="None if the program was stopped.")
    stdout: str
    stderr: str
    duration: float = Field(description="Seconds.")
    timed_out: bool
    working_dir: str
    command: str = ""
    language: str = ""
    output_truncated: bool = False
    error: str = Field(default="", description="Why the run failed, if not by the program's own exit code.")
    notes: list[str] = Field(default_factory=list, description="Options that this host ignores.")
    context: str = Field(default="", description="The Python context it ran in.")
    process_id: str = ""
    cached: bool = Field(default=False, description="The program was not run: this is the output of an earlier run.")


def to_result(outcome: RunOutcome, sandbox_id: str, config_bytes: int, **more: object) -> RunResult:
    """Return the result. Each stream gets half of the output limit; of a longer stream, head and tail are kept."""
    stdout, stdout_cut = truncate(outcome.stdout, config_bytes // 2)
    stderr, stderr_cut = truncate(outcome.stderr, config_bytes // 2)
    return RunResult(
        sandbox_id=sandbox_id,
        exit_code=outcome.exit_code,
        stdout=stdout,
        stderr=stderr,
        duration=round(outcome.wall_s, 6),
        timed_out=outcome.timed_out,
        output_truncated=stdout_cut or stderr_cut or outcome.dropped_bytes > 0,
        error="" if outcome.ok else outcome.error,
        process_id=outcome.id,
        cached=bool(outcome.cached),
        **more,
    )


def truncate(text: str, max_bytes: int) -> tuple[str, bool]:
    raw = text.encode(errors="replace")
    if len(raw) <= max_bytes:
        return text, False
    half = max_bytes // 2
    left_out = len(raw) - 2 * half
    return (
        f"{raw[:half].decode(errors='ignore')}\n[... {left_out} bytes left out ...]\n{raw[-half:].decode(errors='ignore')}",
        True,
    )


async def run(ctx: ToolContext, sandbox_id: str, spec: RunSpec) -> RunOutcome:
    return await ctx.host.run(sandbox_id, replace(spec, cacheable=True) if ctx.cacheable else spec, ctx.sink)


def error_code(outcome: RunOutcome, language: str = "") -> str:
    """Return a documented error code, or "". Compiler errors are recognized by the form of stderr."""
    code = error_codes.run_error_code(outcome)
    if (
        code == error_codes.EXECUTION_FAILED
        and language in _COMPILED
        and not outcome.stdout
        and _is_compiler_error(outcome.stderr)
    ):
        return error_codes.COMPILATION_ERROR
    return code


def _is_compiler_error(text: str) -> bool:
    """Whether a compiler wrote this text: a line starts with a source position and contains an error word."""
    if _COMPILER_ERROR.search(text):
        return True
    lines = (line for line in text.splitlines() if _ERROR_WORD.search(line))
    return any(_SOURCE_POSITION.search(line.partition(" ")[0]) for line in lines)


def run_metadata(result: RunResult, outcome: RunOutcome, error: str) -> dict[str, object]:
    metadata: dict[str, object] = {
        "sandbox_id": result.sandbox_id,
        "command": result.command,
        "working_dir": result.working_dir,
        "exit_code": result.exit_code,
        "execution_time_ms": round(result.duration * 1000, 3),
        "execution_time": f"{result.duration:.3f}s",
        "duration": f"{result.duration:.3f}s",
        "duration_ms": round(result.duration * 1000, 3),
        "stdout_size": len(outcome.stdout.encode(errors="replace")),
        "stderr_size": len(outcome.stderr.encode(errors="replace")),
        "output_truncated": result.output_truncated,
        "output_compressed": False,
        "process_id": outcome.id,
    }
    metadata |= {} if outcome.cached is None else {"cached": outcome.cached}
    return metadata | ({"error_code": error, "error_message": result.error or f"exit code {result.exit_code}"} if error else {})


def render_text(facts: Mapping[str, object], result: RunResult) -> str:
    """Return the text of a response: facts first, then the output."""
    lines = [f"{name}: {value}" for name, value in facts.items() if value not in ("", None)]
    lines += [f"Note: {note}" for note in result.notes]
    lines += [f"Error: {result.error}"] if result.error else []
    lines += [f"STDOUT:\n{result.stdout}"] if result.stdout else []
    lines += [f"STDERR:\n{result.stderr}"] if result.stderr else []
    return "\n".join(lines)


def find_images(outcome: RunOutcome) -> tuple[Image, ...]:
    images = []
    for display in outcome.displays[:_MAX_IMAGES]:
        kind = next((kind for kind in _IMAGES if isinstance(display.get(kind), str)), None)
        if kind is not None:
            images.append(Image(kind, display[kind].replace("\n", "")))
    return tuple(images)


def text_values(outcome: RunOutcome) -> str:
    """Return the text that a cell displayed: usually the value of its last expression."""
    texts = (display.get("text/plain") for display in outcome.displays if not any(kind in display for kind in _IMAGES))
    return "\n".join(text for text in texts if isinstance(text, str))


def to_response(outcome: RunOutcome, result: RunResult, text: str, error: str) -> ToolResponse:
    return ToolResponse(text, result, run_metadata(result, outcome, error), error, find_images(outcome))
