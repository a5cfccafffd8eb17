"""Output of `sandbox bench`: a progress bar while it runs, tables at the end."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from sandbox_runtime.perf.report import Report
from sandbox_runtime.perf.statistics import Timing
from sandbox_runtime.perf.targets import Kind, PerfTarget, TargetResult, TargetState

_NOTHING = "-"
_MET = {
    TargetState.hope: "[bold green]hope",
    TargetState.bar: "[green]bar",
    TargetState.missed: "[red]missed",
    TargetState.unknown: "[dim]-",
}
_MB = 1_000_000
_WIDTH = 150
_MIN_IDLE = 0.8
"""Share of the machine that must be idle before and after the run."""


class ProgressBar:
    """A progress bar on stderr, removed at the end."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()

    def begin(self, title: str, steps: int) -> None:
        if self._task is not None:
            self._progress.update(self._task, visible=False)
        self._task = self._progress.add_task(title, total=steps)

    def step(self) -> None:
        if self._task is not None:
            self._progress.advance(self._task)


def print_report(report: Report, console: Console | None = None) -> None:
    console = console or _console()
    console.print(_machine(report), highlight=False)
    if min(report.machine["idle_before"], report.machine["idle_after"]) < _MIN_IDLE:
        console.print(
            "[yellow]the machine was busy with other work; repeat this on an idle machine before relying on the results"
        )
    console.print(_goals_table(report))
    if report.timings:
        console.print(_timings_table(report))
    for line in [*_memory_lines(report), *_crowd_lines(report), *_soak_lines(report)]:
        console.print(line)
    for name, reason in report.skipped.items():
        console.print(f"[yellow]skipped[/] {name}: {reason}", highlight=False)
    for name, reason in report.failed.items():
        console.print(f"[red]failed[/] {name}: {reason}", highlight=False)


def _console() -> Console:
    """Return a console that is wide if the output is a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


def _machine(report: Report) -> str:
    facts = report.machine
    off = f", without {', '.join(facts['layers_off'])}" if facts["layers_off"] else ""
    return (
        f"sandbox-runtime {report.version} · {facts['backend']}{off} · {facts['cores_allowed']} cores · "
        f"Linux {facts['kernel']} · Python {facts['python']}, guest {facts['guest_version']} · cgroup {facts['cgroup']} · "
        f"{facts['idle_before']:.0%} idle before, {facts['idle_after']:.0%} after · {report.took_s:.0f} s"
    )


def _goals_table(report: Report) -> Table:
    table = Table(box=box.SIMPLE, title="Measurements and targets", title_justify="left")
    table.add_column("what")
    for title in ("ours p50 / p95 / p99", "per second", "baseline", "ratio", "bar", "hope"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("met?")
    for result in report.judged():
        if result.value is not None or not report.partial:
            table.add_row(*_goal_row(result, report))
    return table


def _goal_row(result: TargetResult, report: Report) -> list[str]:
    goal, ours = result.goal, report.timings.get(result.goal.ours)
    if not goal.is_ratio:
        return [
            _title(goal, report),
            _amount(goal, result.value),
            _NOTHING,
            _NOTHING,
            _NOTHING,
            *_targets(goal),
            _MET[result.met],
        ]
    baseline = report.timings.get(goal.baseline)
    compared = "" if baseline is None else f"{_baseline_figure(goal, baseline)} {goal.baseline}"
    ratio = _NOTHING if result.value is None else _times(result.value)
    return [goal.title, _percentiles(ours), _rate(ours), compared or _NOTHING, ratio, *_targets(goal), _MET[result.met]]


def _title(goal: PerfTarget, report: Report) -> str:
    if goal.ours == "box_pss_bytes" and report.memory:
        return f"{goal.title} (PSS, {max(memory.boxes for memory in report.memory)} boxes)"
    if goal.ours.startswith("crowd") and report.crowd:
        return f"{goal.title} ({report.crowd.clients} for {report.crowd.seconds:g} s)"
    if goal.ours in ("session_bytes", "session_slower") and report.sessions:
        return f"{goal.title} ({report.sessions.crowded.sessions})"
    if goal.ours.startswith("kill_") and report.sessions:
        return f"{goal.title} ({report.sessions.killed.kills} times)"
    if goal.ours in ("leftovers", "growth") and report.soaked:
        return f"{goal.title} ({report.soaked.runs})"
    return goal.title


def _targets(goal: PerfTarget) -> list[str]:
    sign = "≥ " if goal.is_ratio else "≤ "
    return [_NOTHING if mark is None else sign + _amount(goal, mark) for mark in (goal.bar, goal.hope)]


def _amount(goal: PerfTarget, value: float | None) -> str:
    if value is None:
        return _NOTHING
    if goal.is_ratio:
        return _times(value)
    if goal.kind is Kind.bytes:
        return f"{value / _MB:.1f} MB"
    if goal.kind is Kind.seconds:
        return _ms(value)
    if goal.kind is Kind.times:
        return f"{value:.2f}x"
    return f"{value:.1%}" if goal.kind is Kind.share else f"{value:g}"


def _times(value: float) -> str:
    if value >= 20 or value == int(value):
        return f"{value:.0f}x"
    return f"{value:.1f}x" if value >= 2 else f"{value:.2f}x"


def _baseline_figure(goal: PerfTarget, baseline: Timing) -> str:
    return f"{_rate(baseline)}/s" if goal.kind is Kind.more else _ms(baseline.p50_s)


def _timings_table(report: Report) -> Table:
    table = Table(box=box.SIMPLE, title="All contenders", title_justify="left")
    table.add_column("name", style="dim")
    table.add_column("what")
    for title in ("p50", "p95", "p99", "per second", "samples"):
        table.add_column(title, justify="right", no_wrap=True)
    for timing in report.timings.values():
        figures = [_ms(timing.at(share)) for share in (0.50, 0.95, 0.99)]
        table.add_row(timing.name, timing.title, *figures, _rate(timing), str(len(timing.samples_s)))
    return table


def _memory_lines(report: Report) -> list[str]:
    return [
        f"{memory.boxes} idle boxes: {memory.pss_bytes / _MB:.2f} MB each (PSS), {memory.private_bytes / _MB:.2f} MB private; "
        f"each added {memory.added_bytes / _MB:.2f} MB in all; spawners {memory.spawners_pss_bytes / _MB:.1f} MB"
        for memory in report.memory
    ]


def _crowd_lines(report: Report) -> list[str]:
    crowd = report.crowd
    if crowd is None:
        return []
    times = "" if crowd.p50_s is None or crowd.p99_s is None else f", p50 {_ms(crowd.p50_s)}, p99 {_ms(crowd.p99_s)}"
    return [
        f"{crowd.clients} clients for {crowd.seconds:g} s: {crowd.answers} right answers{times}; {crowd.errors} errors "
        f"({crowd.refused} refused), {crowd.hung} hung, {crowd.wrong_blame} with wrong blame"
    ]


def _soak_lines(report: Report) -> list[str]:
    soaked = report.soaked
    if soaked is None:
        return []
    left = soaked.leftovers
    return [
        f"after {soaked.runs} runs in {soaked.took_s:.1f} s: {left.processes} processes, {left.mounts} mounts, "
        f"{left.cgroups} cgroups, {left.descriptors} descriptors, {left.folders} files or folders left; "
        f"{soaked.wrong} wrong answers; "
        f"server {soaked.server_bytes_before / _MB:.1f} → {soaked.server_bytes_after / _MB:.1f} MB"
    ]


def _percentiles(timing: Timing | None) -> str:
    if timing is None:
        return _NOTHING
    return " / ".join(_ms(timing.at(share)).removesuffix(" ms") for share in (0.50, 0.95, 0.99)) + " ms"


def _ms(seconds: float) -> str:
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 100 else f"{milliseconds:.{1 if milliseconds >= 10 else 2}f} ms"


def _rate(timing: Timing | None) -> str:
    return _NOTHING if timing is None or timing.per_s is None else f"{timing.per_s:.0f}"
