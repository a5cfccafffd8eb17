"""`sandbox datasets`: which problems there are here, and adding more. They live in the folder that the setting datasets_dir
names; a running server sees changes with its next request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from sandbox_runtime.cli.flags import Config, Set, settings_from
from sandbox_runtime.cli.tables import print_table
from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.judge.rows import Rows
    from sandbox_runtime.model.judge import Dataset

T = TypeVar("T")
Name = Annotated[str, typer.Argument(help="Id of the dataset, as `sandbox datasets list` tells.")]
Files = Annotated[list[Path], typer.Argument(help="Files as their authors publish them (JSON, JSON lines, gz, zip), or tables.")]
RowName = Annotated[str, typer.Argument(help="Id of the problem.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
Replace = Annotated[bool, typer.Option("--replace", help="Put them in the place of those that were added before.")]
Kind = Annotated[
    str | None,
    typer.Option("--type", help="Class of the benchmark, for a dataset that is not registered.", show_default=False),
]
AsPrompt = Annotated[bool, typer.Option("--prompt", help="The prompt instead of the row.")]


def register(app: typer.Typer) -> None:
    datasets = typer.Typer(help="Datasets of the judge: listed, added, shown, removed.", no_args_is_help=True)
    datasets.command("list")(list_datasets)
    datasets.command("add")(add)
    datasets.command("show")(show)
    datasets.command("remove")(remove)
    app.add_typer(datasets, name="datasets")


def list_datasets(as_json: AsJson = False, config: Config = None, sets: Set = None) -> None:
    """Print every dataset: how many rows it has and where they are."""
    settings = settings_from(config, sets)
    rows = _with_rows(settings, lambda found: _listed(found, settings))
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        titles = ("dataset", "rows", "source", "class")
        print_table(titles, [[str("" if row[title] is None else row[title]) for title in titles] for row in rows])


def add(name: Name, files: Files, kind: Kind = None, replace: Replace = False, config: Config = None, sets: Set = None) -> None:
    """Read rows from files and keep them for a dataset."""
    from sandbox_runtime.benchmarks.importers import parsed, read_published
    from sandbox_runtime.judge.rows.table_writer import write_table

    settings = settings_from(config, sets)
    dataset = _dataset(settings, name, kind)
    table = read_published([parsed(str(path), _content(path)) for path in files], name)
    for row in table.rows:
        _check(dataset, row)
    count = write_table(Path(settings.tables_dir), dataset.table, table.rows, replace=replace)
    print(f"{name}: {count} rows, in {settings.tables_dir}")
    if kind is not None:
        print(f"it is not registered: name its class as config.dataset_type, {kind}")


def show(
    name: Name, row_id: RowName, as_prompt: AsPrompt = False, kind: Kind = None, config: Config = None, sets: Set = None
) -> None:
    """Print one problem, with all that is known of it."""
    from sandbox_runtime.model.judge import Options

    settings = settings_from(config, sets)
    dataset = _dataset(settings, name, kind)
    row = _with_rows(settings, lambda rows: rows.one(dataset, row_id))
    if not as_prompt:
        print(json.dumps(dict(row), indent=2, ensure_ascii=False))
        return
    for prompt in dataset.benchmark.prompts(row, Options(name)):
        print(prompt.prompt if isinstance(prompt.prompt, str) else json.dumps(list(map(dict, prompt.prompt)), indent=2))


def remove(name: Name, config: Config = None, sets: Set = None) -> None:
    """Forget the rows that were added for a dataset."""
    from sandbox_runtime.benchmarks.registry import table_of
    from sandbox_runtime.judge.rows.table_writer import remove_table

    settings = settings_from(config, sets)
    found = _registered(settings).get(name)
    tables = (table_of(name),) if found is None else (found.table, *found.other_tables)
    if not any([remove_table(Path(settings.tables_dir), table) for table in tables]):
        raise NotFound(f"no rows of {name!r} are in {settings.tables_dir}")
    print(f"the rows of {name} are removed")


async def _listed(rows: Rows, settings: Settings) -> list[dict[str, Any]]:
    found = []
    for dataset in _registered(settings).values():
        source = await rows.source_of(dataset)
        count = 0 if source is None else await rows.count(dataset)
        found.append({"dataset": dataset.id, "rows": count, "source": source, "class": dataset.benchmark.name})
    return found


def _registered(settings: Settings) -> dict[str, Dataset]:
    from sandbox_runtime.assembly import build_datasets

    return {dataset.id: dataset for dataset in build_datasets(settings)}


def _dataset(settings: Settings, name: str, kind: str | None) -> Dataset:
    from sandbox_runtime.benchmarks.registry import benchmark_classes, table_of
    from sandbox_runtime.model.judge import Dataset

    known = _registered(settings).get(name)
    if known is not None:
        return known
    classes = benchmark_classes()
    if kind is None or kind not in classes:
        raise NotFound(f"there is no dataset {name!r}; name the class of its benchmark with --type: {', '.join(classes)}")
    return Dataset(name, classes[kind], table_of(name, settings.dataset.default_dataset_table))


def _check(dataset: Dataset, row: Any) -> None:
    """Whether the benchmark can ask for it: rows of another form are refused here and not one by one when they are judged."""
    from sandbox_runtime.model.judge import Options

    try:
        dataset.benchmark.prompts(row, Options(dataset.id))
    except InvalidRequest as error:
        raise InvalidRequest(f"{dataset.id} cannot use the row {str(next(iter(row.values()), ''))[:60]!r}: {error}") from error


def _content(path: Path) -> bytes:
    from sandbox_runtime.benchmarks.importers.source_text import MOST_BYTES

    try:
        if path.stat().st_size > MOST_BYTES:
            raise InvalidRequest(f"{path} is larger than {MOST_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error}") from error


def _with_rows(settings: Settings, work: Callable[[Rows], Awaitable[T]]) -> T:
    from sandbox_runtime.assembly import build_row_options
    from sandbox_runtime.judge.rows import open_rows

    async def run() -> T:
        async with open_rows(build_row_options(settings)) as rows:
            return await work(rows)

    return asyncio.run(run())
