"""`sandbox settings`: print every effective value and its source."""

from __future__ import annotations

import dataclasses
import json

import typer

from sandbox_runtime.cli.flags import Config, Set, settings_from
from sandbox_runtime.cli.output import AsJson, print_table
from sandbox_runtime.settings import Settings, all_settings, environment_name, format_value

MASK = "********"


def register(app: typer.Typer) -> None:
    app.command("settings")(show)


def show(as_json: AsJson = False, config: Config = None, sets: Set = None) -> None:
    """Print every setting with value, unit and source."""
    settings = settings_from(config, sets)
    rows = [*(_row(settings, name) for name in all_settings()), *_dataset_rows(settings)]
    print(json.dumps(rows, indent=2)) if as_json else _print_settings(rows)


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
    """Return the dataset section of the configuration file, if any."""
    if not settings.dataset.origin:
        return []
    section = dataclasses.replace(settings.dataset, registry=(), cache=None, origin="")
    fields = {f"dataset.{name}": value for name, value in dataclasses.asdict(section).items() if isinstance(value, str | int)}
    fields.pop("dataset.origin")
    fields |= {f"dataset.database.{name}": value for name, value in dataclasses.asdict(settings.dataset.database).items()}
    fields["dataset.database.password"] = MASK if settings.dataset.database.password else ""
    fields["dataset.cache.path"] = settings.dataset.cache.path if settings.dataset.cache else ""
    fields["dataset.registry"] = f"{sum(len(entry.tables) for entry in settings.dataset.registry)} datasets"
    about = {"unit": "", "source": settings.dataset.origin, "environment": "", "text": "For the judge."}
    return [{"name": name, "value": value, **about} for name, value in fields.items()]


def _print_settings(rows: list[dict[str, object]]) -> None:
    cells = [[format_value(row[key]) for key in ("name", "value", "unit", "source")] for row in rows]
    print_table(("setting", "value", "unit", "source"), cells)
