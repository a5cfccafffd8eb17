"""`sandbox settings`: every effective value and where it came from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from sandbox_runtime.cli.flags import Config, Set, settings_from
from sandbox_runtime.settings import Settings, environment_name, knobs, shown

MASK = "********"

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


def register(app: typer.Typer) -> None:
    app.command("settings")(show)


def show(as_json: AsJson = False, config: Config = None, sets: Set = None) -> None:
    """Print every setting: its value, its unit and where the value came from."""
    rows = [_row(settings_from(config, sets), name) for name in knobs()]
    print(json.dumps(rows, indent=2)) if as_json else _print_table(rows)


def _row(settings: Settings, name: str) -> dict[str, object]:
    about, value = knobs()[name], getattr(settings, name)
    return {
        "name": name,
        "value": MASK if about.secret and value else value,
        "unit": about.unit,
        "source": settings.origin[name],
        "environment": environment_name(name),
        "text": about.text,
    }


def _print_table(rows: list[dict[str, object]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    for title in ("setting", "value", "unit", "source"):
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(row[key])) for key in ("name", "value", "unit", "source")))
    Console().print(table)
