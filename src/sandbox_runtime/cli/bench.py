"""`sandbox bench`: measure this machine and compare the results with their targets."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.errors import InvalidRequest

JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write all measurements to FILE.", show_default=False)
]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw the timings to FILE as SVG.", show_default=False)
]
Peer = Annotated[
    str | None,
    typer.Option(
        "--peer", metavar="URL", help="Also measure this server, which must support POST /run_code.", show_default=False
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Measure for less than half a minute.")]
Seconds = Annotated[float | None, typer.Option("--seconds", help="Seconds of load per contender.", show_default=False)]
Runs = Annotated[int | None, typer.Option("--runs", help="Single runs per contender.", show_default=False)]
Soak = Annotated[int | None, typer.Option("--soak", help="Runs before counting leftovers.", show_default=False)]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="Measure only this part; repeatable. Parts: memory, single, load, data, compiles, notebook, sessions, judge, "
        "judge-faults, crowd, soak.",
        show_default=False,
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if a measurement misses its bar.")]

_FAILED = 1


def register(app: typer.Typer) -> None:
    app.command("bench")(bench)


def bench(
    json_file: JsonFile = None,
    plot_file: PlotFile = None,
    peer: Peer = None,
    quick: Quick = False,
    seconds: Seconds = None,
    runs: Runs = None,
    soak: Soak = None,
    only: Only = None,
    strict: Strict = False,
    isolation: Isolation = None,
    config: Config = None,
    sets: Set = None,
) -> None:
    """Measure the engine and HTTP on this machine, alternating with their baselines."""
    import uvloop

    from sandbox_runtime.cli.bench_report import ProgressBar, print_report
    from sandbox_runtime.perf.bench_plan import FULL, QUICK
    from sandbox_runtime.perf.plot import draw
    from sandbox_runtime.perf.suite import measure
    from sandbox_runtime.perf.targets import TargetState

    settings = settings_from(config, sets, isolation=isolation)
    plan = (QUICK if quick else FULL).adjusted(rounds=runs, seconds=seconds, soak_runs=soak, only=only or [])
    _check_writable(json_file)
    _check_writable(plot_file)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # unwind, so that started processes are stopped
    with ProgressBar() as progress, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        report = runner.run(measure(settings, plan, progress, peer))
    if json_file:
        json_file.write_text(json.dumps(report.to_json(), indent=1) + "\n")
    if plot_file:
        plot_file.write_text(draw(report.timings, report.machine), encoding="utf-8")
    print_report(report)
    missed = any(result.met is TargetState.missed for result in report.judged())
    raise typer.Exit(_FAILED if report.failed or (strict and missed) else 0)


def _check_writable(path: Path | None) -> None:
    """Check this before measuring, not after."""
    try:
        if path is not None:
            path.touch()
    except OSError as error:
        raise InvalidRequest(f"cannot write {path}: {error.strerror}") from error
