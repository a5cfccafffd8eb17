"""`sandbox run FILE`: one program, here and now, without a server."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.exit_codes import HELP, code_of_result
from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Blame, Job, JobResult, Limits, MultiRunResult, Outcome
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.assembly import Platform

Source = Annotated[Path, typer.Argument(metavar="FILE", help="The program; its extension tells the language.")]
Language = Annotated[str | None, typer.Option("--language", "-l", help="Instead of going by the extension.", show_default=False)]
Stdin = Annotated[
    list[str] | None,
    typer.Option(
        "--stdin",
        help="File with the standard input, - for our own. Given more than once, the program is compiled once and run with each.",
        show_default=False,
    ),
]
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
    asked = _Asked(source, language, tuple(stdin or ()), timeout, memory)
    if len(asked.stdins) > 1:
        raise typer.Exit(_many(settings, asked, as_json))
    result = asyncio.run(_run(settings, asked, streaming=not as_json))
    print(_as_json(result)) if as_json else _explain(result)
    raise typer.Exit(code_of_result(result))


def _many(settings: Settings, asked: _Asked, as_json: bool) -> int:
    """Prints the outputs one after another; the exit code is that of the first that failed."""
    result = asyncio.run(_run_many(settings, asked))
    results = [JobResult(result.compile, run) for run in result.runs]
    if as_json:
        print(
            json.dumps(
                {"compile": _told(result.compile), "runs": [_told(run) for run in result.runs]}, indent=2, ensure_ascii=False
            )
        )
    else:
        _print_all(results)
    return next((code for code in map(code_of_result, results) if code), 0)


def _print_all(results: Sequence[JobResult]) -> None:
    for result in results:
        if result.run is not None:
            _print_piece("stdout", bytes(result.run.stdout))
            _print_piece("stderr", bytes(result.run.stderr))
        _explain(result)
        if result.run is None:
            return


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    source: Path
    language: str | None
    stdins: tuple[str, ...]
    timeout_s: float | None
    memory_mib: int | None

    def job(self, language: str, default: Limits, most_memory_bytes: int) -> Job:
        """Compilers get all the memory there is to have: the limit is meant for the program."""
        limits = default if self.timeout_s is None else default.replace(wall_s=self.timeout_s)
        compiling = limits.replace(memory_bytes=most_memory_bytes)
        running = limits if self.memory_mib is None else limits.replace(memory_bytes=self.memory_mib * MIB)
        code = _read(self.source).decode(errors="surrogateescape")
        inputs = self.inputs() if len(self.stdins) == 1 else [None]
        return Job(language, code, inputs[0], compile_limits=compiling, run_limits=running)

    def inputs(self) -> list[bytes | None]:
        return [sys.stdin.buffer.read() if name == "-" else _read(Path(name)) for name in self.stdins]


async def _run(settings: Settings, asked: _Asked, *, streaming: bool) -> JobResult:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, prewarm=False) as platform:
        return await platform.engine.run(_job(platform, asked), sink=_print_piece if streaming else None)


async def _run_many(settings: Settings, asked: _Asked) -> MultiRunResult:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, prewarm=False) as platform:
        return await platform.engine.run_many(_job(platform, asked), asked.inputs())


def _job(platform: Platform, asked: _Asked) -> Job:
    named = platform.catalog.find(asked.language) if asked.language else platform.catalog.find_by_extension(str(asked.source))
    return asked.job(named.name, platform.request_limits.default, platform.request_limits.max_memory_bytes)


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
    return json.dumps({name: _told(outcome) for name, outcome in steps.items()}, indent=2, ensure_ascii=False)


def _told(outcome: Outcome | None) -> dict[str, object] | None:
    if outcome is None:
        return None
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
