"""`sandbox settings`: every effective value and where it came from."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated

import typer

from sandbox_runtime.cli.flags import Config, Set, settings_from
from sandbox_runtime.settings import Settings, all_settings, environment_name, format_value

MASK = "********"

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


def register(app: typer.Typer) -> None:
    app.command("settings")(show)


def show(as_json: AsJson = False, config: Config = None, sets: Set = None) -> None:
    """Print every setting: its value, its unit and where the value came from."""
    settings = settings_from(config, sets)
    rows = [*(_row(settings, name) for name in all_settings()), *_dataset_rows(settings)]
    print(json.dumps(rows, indent=2)) if as_json else _print_table(rows)


def _row(settings: Settings, name: str) -> dict[str, object]:
    about, value = all_settings()[name], getattr(settings, name)
    return {
        "name": name,
        "value": MASK if about.secret and value else value,
        "unit": about.unit,
        "source": settings.origin[name],
        "environment": environment_name(name),
        "text": about.description,
    }


def _dataset_rows(settings: Settings) -> list[dict[str, object]]:
    """What the configuration file says of datasets, where there is one."""
    if not settings.dataset.origin:
        return []
    whole = dataclasses.replace(settings.dataset, registry=(), cache=None, origin="")
    told = {f"dataset.{name}": value for name, value in dataclasses.asdict(whole).items() if isinstance(value, str | int)}
    told.pop("dataset.origin")
    told |= {f"dataset.database.{name}": value for name, value in dataclasses.asdict(settings.dataset.database).items()}
    told["dataset.database.password"] = MASK if settings.dataset.database.password else ""
    told["dataset.cache.path"] = settings.dataset.cache.path if settings.dataset.cache else ""
    told["dataset.registry"] = f"{sum(len(entry.tables) for entry in settings.dataset.registry)} datasets"
    about = {"unit": "", "source": settings.dataset.origin, "environment": "", "text": "For the judge."}
    return [{"name": name, "value": value, **about} for name, value in told.items()]


def _print_table(rows: list[dict[str, object]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    for title in ("setting", "value", "unit", "source"):
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(format_value(row[key])) for key in ("name", "value", "unit", "source")))
    Console().print(table)
