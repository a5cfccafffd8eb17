"""`sandbox bench`: measure this machine and print how the figures stand against their goals."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.cli.flags import Config, Isolation, Set, settings_from
from sandbox_runtime.errors import InvalidRequest

JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write every figure here.", show_default=False)]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw the timings here, as SVG.", show_default=False)
]
Peer = Annotated[
    str | None,
    typer.Option("--peer", metavar="URL", help="Another server that speaks POST /run_code, measured beside.", show_default=False),
]
Quick = Annotated[bool, typer.Option("--quick", help="A first impression in less than half a minute.")]
Seconds = Annotated[float | None, typer.Option("--seconds", help="Seconds of load for each contender.", show_default=False)]
Runs = Annotated[int | None, typer.Option("--runs", help="Single runs of each contender.", show_default=False)]
Soak = Annotated[int | None, typer.Option("--soak", help="Runs after which leftovers are counted.", show_default=False)]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        help="memory, single, load, data, compiles, notebook, sessions, judge, judge-faults, crowd, soak; may be repeated.",
        show_default=False,
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 when a figure misses its bar.")]

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
    """Measure this machine: the engine, HTTP, and what they are compared with, taking turns in one run."""
    import uvloop

    from sandbox_runtime.cli.bench_report import Shown, print_report
    from sandbox_runtime.perf.plan import FULL, QUICK
    from sandbox_runtime.perf.plot import draw
    from sandbox_runtime.perf.suite import measure
    from sandbox_runtime.perf.targets import TargetState

    settings = settings_from(config, sets, isolation=isolation)
    effort = (QUICK if quick else FULL).adjusted(rounds=runs, seconds=seconds, soak_runs=soak, only=only or [])
    _check_writable(json_file)
    _check_writable(plot_file)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what was started on the way is ended
    with Shown() as progress, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        report = runner.run(measure(settings, effort, progress, peer))
    if json_file:
        json_file.write_text(json.dumps(report.to_json(), indent=1) + "\n")
    if plot_file:
        plot_file.write_text(draw(report.timings, report.machine), encoding="utf-8")
    print_report(report)
    missed = any(one.met is TargetState.missed for one in report.judged())
    raise typer.Exit(_FAILED if report.failed or (strict and missed) else 0)


def _check_writable(path: Path | None) -> None:
    """Before a minute is spent, not after."""
    try:
        if path is not None:
            path.touch()
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be written: {error.strerror}") from error
