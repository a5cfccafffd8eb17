"""`sandbox judge`: judge completions locally or on a server, and print scores."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandbox_runtime.cli.flags import Isolation, Set, settings_from
from sandbox_runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from sandbox_runtime.cli.judge_runner import JudgeRun

Name = Annotated[str, typer.Argument(metavar="DATASET", help="Id of the dataset, see `sandbox datasets list`.")]
Completions = Annotated[
    str | None,
    typer.Option(
        "--completions",
        "-c",
        metavar="FILE",
        help='JSON lines {"id": …, "completion": "…"}, optionally gzipped (.gz); - for stdin. task_id is accepted for id.',
        show_default=False,
    ),
]
Samples = Annotated[
    int | None, typer.Option("--samples", help="Judge only the first N completions of each problem.", min=1, show_default=False)
]
PassAt = Annotated[str, typer.Option("--pass-at", help="Values of k for pass@k, comma-separated.")]
Options = Annotated[
    str,
    typer.Option(
        "--options", metavar="JSON", help="Options for all completions, as in the config of /submit.", show_default=False
    ),
]
Language = Annotated[
    str | None, typer.Option("--language", "-l", help="Language, if the dataset does not set it.", show_default=False)
]
Parallel = Annotated[
    int | None,
    typer.Option("--parallel", "-p", help="Completions judged concurrently (setting batch_parallel).", min=1, max=10_000),
]
Limit = Annotated[
    int | None, typer.Option("--limit", help="Stop after N completions, or rows with --self-check.", min=1, show_default=False)
]
Results = Annotated[
    Path | None,
    typer.Option("--results", "-o", metavar="FILE", help="Write every result to FILE as JSON lines.", show_default=False),
]
Html = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write an HTML report to FILE.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
SelfCheck = Annotated[
    bool, typer.Option("--self-check", help="Judge the dataset's reference solutions; exit with 1 if one is rejected.")
]
Url = Annotated[
    str | None,
    typer.Option("--url", help="Judge on this server, as a batch. Its API key is read from SANDBOX_API_KEY.", show_default=False),
]
Key = Annotated[
    str, typer.Option("--key", help="With --url: idempotency key; the same key resumes the same batch.", show_default=False)
]

_NOT_ALL = 1


def register(app: typer.Typer) -> None:
    app.command("judge")(judge)


def judge(
    dataset: Name,
    completions: Completions = None,
    samples: Samples = None,
    pass_at: PassAt = "1",
    options: Options = "",
    language: Language = None,
    parallel: Parallel = None,
    limit: Limit = None,
    results: Results = None,
    report: Html = None,
    as_json: AsJson = False,
    self_check: SelfCheck = False,
    url: Url = None,
    key: Key = "",
    isolation: Isolation = None,
    sets: Set = None,
) -> None:
    """Judge completions of a dataset: `sandbox judge mbpp -c answers.jsonl --samples 5 --pass-at 1,5`."""
    ks = _ks(pass_at)
    config = _config(options, language)
    if self_check == (completions is not None):
        raise InvalidRequest("give exactly one of --completions FILE and --self-check")
    if self_check and url:
        raise InvalidRequest("--self-check cannot be combined with --url: it needs the dataset's rows")
    from sandbox_runtime.cli import judge_runner
    from sandbox_runtime.cli.judge_report import print_summary, write_report

    settings = settings_from(None, ["log_level=error", *(sets or [])], isolation=isolation)
    judge_options = judge_runner.JudgeOptions(dataset, config, parallel or settings.batch_parallel, limit, results)
    if self_check:
        run = _run(judge_runner.self_check(settings, judge_options))
    else:
        lines = judge_runner.read_completions(completions or "-", samples, limit)
        if url is not None:
            run = judge_runner.judge_remotely(url, judge_options, lines, key)
        else:
            run = _run(judge_runner.judge_locally(settings, judge_options, lines))
    if report:
        write_report(report, dataset, run, ks)
    print_summary(dataset, run, ks, as_json=as_json, self_check=self_check)
    raise typer.Exit(_exit_code(run, self_check))


def _run(work: Coroutine[Any, Any, JudgeRun]) -> JudgeRun:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def _exit_code(run: JudgeRun, self_check: bool) -> int:
    if self_check and any(not result["accepted"] for result in run.results):
        return _NOT_ALL
    if any(result["reason"] == "not_judged" for result in run.results):
        print("sandbox: some completions could not be judged", file=sys.stderr)
        return _NOT_ALL
    return 0


def _ks(text: str) -> tuple[int, ...]:
    try:
        ks = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        ks = ()
    if not ks or min(ks) < 1:
        raise InvalidRequest(f"--pass-at {text!r} must be integers from 1 on, comma-separated: 1,5,10")
    return ks


def _config(text: str, language: str | None) -> dict[str, Any]:
    try:
        config = json.loads(text or "{}")
    except ValueError as error:
        raise InvalidRequest(f"--options is not valid JSON: {error}") from error
    if not isinstance(config, dict):
        raise InvalidRequest("--options must be a JSON object")
    return config | ({"language": language} if language else {})
