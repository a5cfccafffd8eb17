"""Reports of `sandbox judge`: tables in the terminal and a self-contained HTML page."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from sandbox_runtime.cli.judge_runner import JudgeRun
from sandbox_runtime.cli.output import write_text
from sandbox_runtime.judge.metrics import Sample, Score, Summary, summarize
from sandbox_runtime.model import Reason

_MAX_FAILURES = 20
"""Failures listed in the terminal; the results file has all."""


def summarize_run(run: JudgeRun, ks: Sequence[int]) -> Summary:
    return summarize((Sample(result["id"], Reason(result["reason"]), result.get("groups", {})) for result in run.results), ks)


def print_summary(dataset: str, run: JudgeRun, ks: Sequence[int], *, as_json: bool, self_check: bool) -> None:
    summary = summarize_run(run, ks)
    if as_json:
        print(json.dumps(summary_json(dataset, summary, run), indent=2))
        return
    console = Console()
    console.print(_scores(dataset, summary, ks))
    reasons = ", ".join(f"{count} {name}" for name, count in sorted(summary.reasons.items(), key=lambda result: -result[1]))
    console.print(reasons or "nothing was judged", highlight=False, markup=False)
    if guards := count_guards(run):
        console.print("guard: " + ", ".join(f"{count} {name}" for name, count in guards.items()), highlight=False, markup=False)
    if self_check:
        _print_failures(console, run)
    if run.skipped:
        name, reason = next(iter(run.skipped.items()))
        console.print(f"{len(run.skipped)} rows without a reference solution ({name}: {reason})", highlight=False, markup=False)


def _print_failures(console: Console, run: JudgeRun) -> None:
    failed = [result for result in run.results if not result["accepted"]]
    for result in failed[:_MAX_FAILURES]:
        line = (result.get("message") or "").partition("\n")[0]
        console.print(f"  {result['id']}: {result['reason']} {line}"[:300], highlight=False, markup=False)
    if len(failed) > _MAX_FAILURES:
        console.print(f"  and {len(failed) - _MAX_FAILURES} more", highlight=False)


def summary_json(dataset: str, summary: Summary, run: JudgeRun) -> dict[str, Any]:
    groups = {kind: {name: _score_json(score) for name, score in values.items()} for kind, values in summary.groups.items()}
    return {
        "dataset": dataset,
        "total": _score_json(summary.total),
        "groups": groups,
        "reasons": dict(summary.reasons),
        "guards": count_guards(run),
        "not_judged": summary.not_judged,
        "skipped": run.skipped,
    }


def count_guards(run: JudgeRun) -> dict[str, int]:
    """Count verdicts reached outside the solution's process (split) and inside it (shared)."""
    return dict(Counter(result["guard"] for result in run.results if result.get("guard")))


def _score_json(score: Score) -> dict[str, Any]:
    pass_at = {str(k): value for k, value in score.pass_at.items()}
    return {"problems": score.problems, "samples": score.samples, "accepted": score.accepted, "pass_at": pass_at}


def _scores(dataset: str, summary: Summary, ks: Sequence[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for title in ("", "problems", "completions", "accepted", *(f"pass@{k}" for k in ks)):
        table.add_column(title, justify="left" if not title else "right")
    for name, score in _rows(dataset, summary):
        table.add_row(name, str(score.problems), str(score.samples), str(score.accepted), *_percent(score, ks))
    return table


def _rows(dataset: str, summary: Summary) -> Iterable[tuple[str, Score]]:
    yield dataset, summary.total
    for kind, values in summary.groups.items():
        if len(values) > 1:
            yield from ((f"{kind}: {name}", score) for name, score in values.items())


def _percent(score: Score, ks: Sequence[int]) -> list[str]:
    return [f"{score.pass_at[k]:.2%}" if k in score.pass_at else "-" for k in ks]


# The page.

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1c2024 }}
table {{ border-collapse: collapse; margin: 1rem 0; width: 100% }}
th, td {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #e3e6ea; vertical-align: top }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums }}
pre {{ margin: 0; white-space: pre-wrap; font-size: 13px }}
summary {{ cursor: pointer; font-weight: 600; margin-top: 1rem }}
.accepted {{ color: #18794e }} .not_judged {{ color: #946800 }} .failed {{ color: #b42318 }}
</style></head><body>
<h1>{title}</h1><p>{when}</p>
{scores}
<h2>Reasons</h2>
{reasons}
<h2>Guards</h2>
{guards}
<h2>Rejected completions</h2>
{failures}
</body></html>
"""


def write_report(path: Path, dataset: str, run: JudgeRun, ks: Sequence[int]) -> None:
    """Write one HTML file without scripts. Program output is escaped."""
    summary = summarize_run(run, ks)
    page = _PAGE.format(
        title=html.escape(f"Verdicts of {dataset}"),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        scores=_score_table(dataset, summary, ks),
        reasons=_table(("reason", "completions"), ((name, str(count)) for name, count in sorted(summary.reasons.items()))),
        guards=_table(("guard", "completions"), ((name, str(count)) for name, count in sorted(count_guards(run).items()))),
        failures=_failures(run),
    )
    write_text(path, page)


def _score_table(dataset: str, summary: Summary, ks: Sequence[int]) -> str:
    heads = ("", "problems", "completions", "accepted", *(f"pass@{k}" for k in ks))
    rows = (
        (name, str(score.problems), str(score.samples), str(score.accepted), *_percent(score, ks))
        for name, score in _rows(dataset, summary)
    )
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def cells(tag: str, texts: Sequence[str]) -> str:
        return "".join(f"<{tag}{' class=n' if place else ''}>{html.escape(text)}</{tag}>" for place, text in enumerate(texts))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><tr>{cells('th', heads)}</tr>{body}</table>"


def _failures(run: JudgeRun) -> str:
    by_reason: dict[str, list[dict[str, Any]]] = {}
    for result in run.results:
        if not result["accepted"]:
            by_reason.setdefault(result["reason"], []).append(result)
    return "".join(_section(reason, ones) for reason, ones in sorted(by_reason.items())) or "<p>None.</p>"


def _message_html(result: dict[str, Any]) -> str:
    """Return the message, or what the program tampered with, and its stderr in a collapsed block."""
    shown = f"<pre>{html.escape(' '.join(result.get('tamper', [])) or result.get('message', ''))}</pre>"
    if not result.get("stderr"):
        return shown
    return f"{shown}<details><summary>standard error</summary><pre>{html.escape(result['stderr'])}</pre></details>"


def _section(reason: str, ones: Sequence[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(str(result['id']))}</td><td class=n>{html.escape(str(result.get('sample', '')))}</td>"
        f"<td class=n>{result.get('passed', '')}/{result.get('cases', '')}</td>"
        f"<td>{_message_html(result)}</td></tr>"
        for result in ones
    )
    kind = "not_judged" if reason == Reason.not_judged else "failed"
    heads = "<tr><th>id</th><th class=n>sample</th><th class=n>cases passed</th><th>message</th></tr>"
    return f"<details><summary class={kind}>{html.escape(reason)}: {len(ones)}</summary><table>{heads}{rows}</table></details>"
