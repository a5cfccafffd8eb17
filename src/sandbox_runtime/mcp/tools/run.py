"""What all tools that run something share: the run itself, its bounds, and how it is told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import Field

from sandbox_runtime.mcp.hosts.port import Ran, Work
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.tool import Answer, Call, Image, Result

_COMPILED = frozenset({"c", "cpp", "rust", "java", "go", "csharp", "typescript"})
_COMPLAINT = re.compile(r"^error(\[E\d+\])?[: ]|undefined reference", re.MULTILINE)
_PLACE = re.compile(r"(?:main\.(?:c|cpp|go|ts)|\w\.(?:java|cs))[:(]\d")
_COMPLAINING = re.compile(r"\b(?:error|undefined|declared)\b")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_MOST_IMAGES = 20


class RunResult(Result):
    sandbox_id: str
    exit_code: int | None = Field(description="None where it has none: it was stopped before it ended.")
    stdout: str
    stderr: str
    duration: float = Field(description="Seconds.")
    timed_out: bool
    working_dir: str
    command: str = ""
    language: str = ""
    output_truncated: bool = False
    error: str = Field(default="", description="Why it failed, where that is not the program's own doing.")
    notes: list[str] = Field(default_factory=list, description="Wishes that this host could not follow.")
    context: str = Field(default="", description="The live interpreter it ran in.")
    process_id: str = ""
    cached: bool = Field(default=False, description="It was not run: this is what it printed for the same files before.")


def result_of(ran: Ran, sandbox_id: str, config_bytes: int, **more: object) -> RunResult:
    """Each stream has half of what an answer may hold; of a longer one, head and tail are kept."""
    stdout, stdout_cut = shortened(ran.stdout, config_bytes // 2)
    stderr, stderr_cut = shortened(ran.stderr, config_bytes // 2)
    return RunResult(
        sandbox_id=sandbox_id,
        exit_code=ran.exit_code,
        stdout=stdout,
        stderr=stderr,
        duration=round(ran.wall_s, 6),
        timed_out=ran.timed_out,
        output_truncated=stdout_cut or stderr_cut or ran.dropped_bytes > 0,
        error="" if ran.ok else ran.error,
        process_id=ran.id,
        cached=bool(ran.cached),
        **more,
    )


def shortened(text: str, most_bytes: int) -> tuple[str, bool]:
    raw = text.encode(errors="replace")
    if len(raw) <= most_bytes:
        return text, False
    half = most_bytes // 2
    left_out = len(raw) - 2 * half
    return (
        f"{raw[:half].decode(errors='ignore')}\n[... {left_out} bytes left out ...]\n{raw[-half:].decode(errors='ignore')}",
        True,
    )


async def run(call: Call, sandbox_id: str, work: Work) -> Ran:
    return await call.place.run(sandbox_id, replace(work, cacheable=True) if call.cacheable else work, call.sink)


def error_of(ran: Ran, language: str = "") -> str:
    """One of the documented codes. What a compiler says is known by how it says it."""
    code = error_codes.code_of_run(ran)
    if code == error_codes.EXECUTION_FAILED and language in _COMPILED and not ran.stdout and _is_complaint(ran.stderr):
        return error_codes.COMPILATION_ERROR
    return code


def _is_complaint(text: str) -> bool:
    """Whether a compiler wrote this: a line that begins with a place in a source file and holds one of its words."""
    if _COMPLAINT.search(text):
        return True
    lines = (line for line in text.splitlines() if _COMPLAINING.search(line))
    return any(_PLACE.search(line.partition(" ")[0]) for line in lines)


def metadata_of(result: RunResult, ran: Ran, error: str) -> dict[str, object]:
    told: dict[str, object] = {
        "sandbox_id": result.sandbox_id,
        "command": result.command,
        "working_dir": result.working_dir,
        "exit_code": result.exit_code,
        "execution_time_ms": round(result.duration * 1000, 3),
        "execution_time": f"{result.duration:.3f}s",
        "duration": f"{result.duration:.3f}s",
        "duration_ms": round(result.duration * 1000, 3),
        "stdout_size": len(ran.stdout.encode(errors="replace")),
        "stderr_size": len(ran.stderr.encode(errors="replace")),
        "output_truncated": result.output_truncated,
        "output_compressed": False,
        "process_id": ran.id,
    }
    told |= {} if ran.cached is None else {"cached": ran.cached}
    return told | ({"error_code": error, "error_message": result.error or f"exit code {result.exit_code}"} if error else {})


def lines_of(facts: Mapping[str, object], result: RunResult) -> str:
    """The text of an answer: facts first, then what was printed."""
    told = [f"{name}: {value}" for name, value in facts.items() if value not in ("", None)]
    told += [f"Note: {note}" for note in result.notes]
    told += [f"Error: {result.error}"] if result.error else []
    told += [f"STDOUT:\n{result.stdout}"] if result.stdout else []
    told += [f"STDERR:\n{result.stderr}"] if result.stderr else []
    return "\n".join(told)


def images_of(ran: Ran) -> tuple[Image, ...]:
    found = []
    for display in ran.displays[:_MOST_IMAGES]:
        kind = next((kind for kind in _IMAGES if isinstance(display.get(kind), str)), None)
        if kind is not None:
            found.append(Image(kind, display[kind].replace("\n", "")))
    return tuple(found)


def shown_values(ran: Ran) -> str:
    """What a cell showed as text: the value of its last expression, mostly."""
    texts = (display.get("text/plain") for display in ran.displays if not any(kind in display for kind in _IMAGES))
    return "\n".join(text for text in texts if isinstance(text, str))


def told(ran: Ran, result: RunResult, text: str, error: str) -> Answer:
    return Answer(text, result, metadata_of(result, ran, error), error, images_of(ran))
