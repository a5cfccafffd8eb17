"""`sandbox run FILE`: one program, here and now, without a server."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.cli.codes import HELP, code_of_result
from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Blame, Job, JobResult, Limits, Outcome
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.settings import Settings

Source = Annotated[Path, typer.Argument(metavar="FILE", help="The program; its extension tells the language.")]
Language = Annotated[str | None, typer.Option("--language", "-l", help="Instead of going by the extension.", show_default=False)]
Stdin = Annotated[str | None, typer.Option("--stdin", help="File with the standard input, - for our own.", show_default=False)]
Timeout = Annotated[
    float | None, typer.Option("--timeout", help="Seconds the program may take (setting timeout_seconds).", show_default=False)
]
Memory = Annotated[
    int | None, typer.Option("--memory", help="MiB of memory it may use (setting memory_limit).", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the whole result as JSON instead of the program's output.")]


def register(app: typer.Typer) -> None:
    app.command("run", epilog=HELP)(run)


def run(
    source: Source,
    language: Language = None,
    stdin: Stdin = None,
    timeout: Timeout = None,
    memory: Memory = None,
    as_json: AsJson = False,
    isolation: Isolation = None,
    config: Config = None,
    sets: Set = None,
) -> None:
    """Run a program in a fresh box and exit with its exit code."""
    settings = settings_from(config, ["log_level=error", *(sets or [])], isolation=isolation)
    asked = _Asked(source, language, stdin, timeout, memory)
    result = asyncio.run(_run(settings, asked, streaming=not as_json))
    print(_as_json(result)) if as_json else _explain(result)
    raise typer.Exit(code_of_result(result))


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    source: Path
    language: str | None
    stdin: str | None
    timeout_s: float | None
    memory_mib: int | None

    def job(self, language: str, default: Limits, most_memory_bytes: int) -> Job:
        """Compilers get all the memory there is to have: the limit is meant for the program."""
        limits = default if self.timeout_s is None else default.replace(wall_s=self.timeout_s)
        compiling = limits.replace(memory_bytes=most_memory_bytes)
        running = limits if self.memory_mib is None else limits.replace(memory_bytes=self.memory_mib * MIB)
        code = _read(self.source).decode(errors="surrogateescape")
        return Job(language, code, self._input(), compile_limits=compiling, run_limits=running)

    def _input(self) -> bytes | None:
        if self.stdin is None:
            return None
        return sys.stdin.buffer.read() if self.stdin == "-" else _read(Path(self.stdin))


async def _run(settings: Settings, asked: _Asked, *, streaming: bool) -> JobResult:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, ahead=False) as platform:
        named = platform.catalog.find(asked.language) if asked.language else platform.catalog.of_file(str(asked.source))
        job = asked.job(named.name, platform.allowance.default, platform.allowance.most_memory_bytes)
        return await platform.engine.run(job, sink=_print_piece if streaming else None)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error


def _print_piece(stream: str, piece: bytes) -> None:
    target = (sys.stdout if stream == "stdout" else sys.stderr).buffer
    target.write(piece)
    target.flush()


def _explain(result: JobResult) -> None:
    """What the program's own output does not tell."""
    outcome = result.run or result.compile
    if outcome is None:
        return
    if result.run is None:
        sys.stderr.buffer.write(bytes(outcome.stdout) + bytes(outcome.stderr))
    if outcome.blame is not Blame.program:
        print(f"sandbox: {outcome.ending.replace('_', ' ')}: {outcome.message}".removesuffix(": "), file=sys.stderr)


def _as_json(result: JobResult) -> str:
    steps = {"compile": result.compile, "run": result.run}
    return json.dumps({name: outcome and _told(outcome) for name, outcome in steps.items()}, indent=2, ensure_ascii=False)


def _told(outcome: Outcome) -> dict[str, object]:
    usage = {**{field.name: getattr(outcome.usage, field.name) for field in dataclasses.fields(outcome.usage)}}
    usage["denied_calls"] = dict(outcome.usage.denied_calls)
    return {
        "ending": outcome.ending,
        "blame": outcome.blame,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "message": outcome.message,
        "isolation": outcome.isolation,
        "cached": outcome.cached,
        "stdout": outcome.stdout.text,
        "stderr": outcome.stderr.text,
        "usage": usage,
    }
