"""`sandbox run FILE`: run a program without a server."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.exit_codes import HELP, result_exit_code
from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Blame, Job, JobResult, Limits, MultiRunResult, Outcome
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.assembly import Platform

Source = Annotated[Path, typer.Argument(metavar="FILE", help="The program. Its extension selects the language.")]
Language = Annotated[
    str | None, typer.Option("--language", "-l", help="Language, instead of that of the extension.", show_default=False)
]
Stdin = Annotated[
    list[str] | None,
    typer.Option(
        "--stdin",
        help="File with the standard input; - for stdin. Repeatable: the program is compiled once and run with each.",
        show_default=False,
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", help="Timeout of the program in seconds (setting timeout_seconds).", show_default=False),
]
Memory = Annotated[
    int | None, typer.Option("--memory", help="Memory limit of the program in MiB (setting memory_limit).", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of the program's output.")]


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
    """Run a program in a new box and exit with its exit code."""
    settings = settings_from(config, ["log_level=error", *(sets or [])], isolation=isolation)
    options = RunOptions(source, language, tuple(stdin or ()), timeout, memory)
    if len(options.stdins) > 1:
        raise typer.Exit(_run_many_inputs(settings, options, as_json))
    result = asyncio.run(_run(settings, options, streaming=not as_json))
    print(_as_json(result)) if as_json else _explain(result)
    raise typer.Exit(result_exit_code(result))


def _run_many_inputs(settings: Settings, options: RunOptions, as_json: bool) -> int:
    """Print the outputs one after another and return the exit code of the first failed run."""
    result = asyncio.run(_run_many(settings, options))
    results = [JobResult(result.compile, run) for run in result.runs]
    if as_json:
        print(
            json.dumps(
                {"compile": _outcome_json(result.compile), "runs": [_outcome_json(run) for run in result.runs]},
                indent=2,
                ensure_ascii=False,
            )
        )
    else:
        _print_all(results)
    return next((code for code in map(result_exit_code, results) if code), 0)


def _print_all(results: Sequence[JobResult]) -> None:
    for result in results:
        if result.run is not None:
            _print_output("stdout", bytes(result.run.stdout))
            _print_output("stderr", bytes(result.run.stderr))
        _explain(result)
        if result.run is None:
            return


@dataclasses.dataclass(frozen=True, slots=True)
class RunOptions:
    source: Path
    language: str | None
    stdins: tuple[str, ...]
    timeout_s: float | None
    memory_mib: int | None

    def job(self, language: str, default: Limits, max_memory_bytes: int) -> Job:
        """Return the job. The memory limit is for the program; the compiler gets the maximum."""
        limits = default if self.timeout_s is None else default.replace(wall_s=self.timeout_s)
        compiling = limits.replace(memory_bytes=max_memory_bytes)
        running = limits if self.memory_mib is None else limits.replace(memory_bytes=self.memory_mib * MIB)
        code = _read(self.source).decode(errors="surrogateescape")
        inputs = self.inputs() if len(self.stdins) == 1 else [None]
        return Job(language, code, inputs[0], compile_limits=compiling, run_limits=running)

    def inputs(self) -> list[bytes | None]:
        return [sys.stdin.buffer.read() if name == "-" else _read(Path(name)) for name in self.stdins]


async def _run(settings: Settings, options: RunOptions, *, streaming: bool) -> JobResult:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, prewarm=False) as platform:
        return await platform.engine.run(_job(platform, options), sink=_print_output if streaming else None)


async def _run_many(settings: Settings, options: RunOptions) -> MultiRunResult:
    from sandbox_runtime.assembly import open_platform

    async with open_platform(settings, prewarm=False) as platform:
        return await platform.engine.run_many(_job(platform, options), options.inputs())


def _job(platform: Platform, options: RunOptions) -> Job:
    catalog = platform.catalog
    language = catalog.find(options.language) if options.language else catalog.find_by_extension(str(options.source))
    return options.job(language.name, platform.request_limits.default, platform.request_limits.max_memory_bytes)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidRequest(f"cannot read {path}: {error.strerror}") from error


def _print_output(stream: str, piece: bytes) -> None:
    target = (sys.stdout if stream == "stdout" else sys.stderr).buffer
    target.write(piece)
    target.flush()


def _explain(result: JobResult) -> None:
    """Print the compiler's output, and why the program was stopped."""
    outcome = result.run or result.compile
    if outcome is None:
        return
    if result.run is None:
        sys.stderr.buffer.write(bytes(outcome.stdout) + bytes(outcome.stderr))
    if outcome.blame is not Blame.program:
        print(f"sandbox: {outcome.ending.replace('_', ' ')}: {outcome.message}".removesuffix(": "), file=sys.stderr)


def _as_json(result: JobResult) -> str:
    steps = {"compile": result.compile, "run": result.run}
    return json.dumps({name: _outcome_json(outcome) for name, outcome in steps.items()}, indent=2, ensure_ascii=False)


def _outcome_json(outcome: Outcome | None) -> dict[str, object] | None:
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
