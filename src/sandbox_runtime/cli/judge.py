"""`sandbox judge`: verdicts of completions, here and now or by a server, with scores and a report."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandbox_runtime.cli.flags import Isolation, Set, settings_from
from sandbox_runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from sandbox_runtime.cli.judge_runner import Judged

Name = Annotated[str, typer.Argument(metavar="DATASET", help="Its id; `sandbox datasets` lists them.")]
Completions = Annotated[
    str | None,
    typer.Option(
        "--completions",
        "-c",
        metavar="FILE",
        help='JSON lines {"id": …, "completion": "…"}, .gz too; - for our own input. task_id is taken for id.',
        show_default=False,
    ),
]
Samples = Annotated[
    int | None, typer.Option("--samples", help="Only the first so many completions of each problem.", min=1, show_default=False)
]
PassAt = Annotated[str, typer.Option("--pass-at", help="Values of k for pass@k, with commas.")]
Options = Annotated[
    str, typer.Option("--options", metavar="JSON", help="Options for all, in the words of /submit's config.", show_default=False)
]
Language = Annotated[str | None, typer.Option("--language", "-l", help="Where the dataset leaves it open.", show_default=False)]
Parallel = Annotated[
    int | None, typer.Option("--parallel", "-p", help="Completions judged at once (setting batch_parallel).", min=1, max=10_000)
]
Limit = Annotated[int | None, typer.Option("--limit", help="Stop after so many completions, or rows.", min=1, show_default=False)]
Results = Annotated[
    Path | None,
    typer.Option("--results", "-o", metavar="FILE", help="Write every result here, as JSON lines.", show_default=False),
]
Html = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write a report as HTML.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
SelfCheck = Annotated[
    bool, typer.Option("--self-check", help="Judge the dataset's own reference solutions; exit with 1 if one is not accepted.")
]
Url = Annotated[
    str | None,
    typer.Option(
        "--url", help="Have a server judge them, as a batch; its key is taken from SANDBOX_API_KEY.", show_default=False
    ),
]
Key = Annotated[
    str, typer.Option("--key", help="With --url: the same key finds the batch that was sent before.", show_default=False)
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
        raise InvalidRequest("say what is to be judged: --completions FILE, or --self-check for the reference solutions")
    if self_check and url:
        raise InvalidRequest("--self-check runs here: it needs the dataset's rows")
    from sandbox_runtime.cli import judge_runner
    from sandbox_runtime.cli.judge_report import print_summary, write_report

    settings = settings_from(None, ["log_level=error", *(sets or [])], isolation=isolation)
    asked = judge_runner.Asked(dataset, config, parallel or settings.batch_parallel, limit, results)
    if self_check:
        found = _run(judge_runner.self_checked(settings, asked))
    elif url is not None:
        found = judge_runner.judged_by_server(url, asked, judge_runner.read_completions(completions or "-", samples, limit), key)
    else:
        found = _run(judge_runner.judged_here(settings, asked, judge_runner.read_completions(completions or "-", samples, limit)))
    if report:
        write_report(report, dataset, found, ks)
    print_summary(dataset, found, ks, as_json=as_json, self_check=self_check)
    raise typer.Exit(_code(found, self_check))


def _run(work: Any) -> Judged:
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        found: Judged = runner.run(work)
        return found


def _code(found: Judged, self_check: bool) -> int:
    if self_check and any(not one["accepted"] for one in found.results):
        return _NOT_ALL
    if any(one["reason"] == "not_judged" for one in found.results):
        print("sandbox: some completions were not judged; that says nothing about them", file=sys.stderr)
        return _NOT_ALL
    return 0


def _ks(text: str) -> tuple[int, ...]:
    try:
        ks = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        ks = ()
    if not ks or min(ks) < 1:
        raise InvalidRequest(f"--pass-at {text!r}: write whole numbers from 1 on, with commas: 1,5,10")
    return ks


def _config(text: str, language: str | None) -> dict[str, Any]:
    try:
        config = json.loads(text or "{}")
    except ValueError as error:
        raise InvalidRequest(f"--options is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise InvalidRequest("--options must be a JSON object")
    return config | ({"language": language} if language else {})
