"""`sandbox datasets`: list, add, show and remove datasets of the judge, stored in the folder of the setting datasets_dir. A
running server sees changes with its next request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from sandbox_runtime.cli.flags import Config, Set, settings_from
from sandbox_runtime.cli.output import AsJson, print_table
from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.judge.rows import Rows
    from sandbox_runtime.model.judge import Dataset

T = TypeVar("T")
Name = Annotated[str, typer.Argument(help="Id of the dataset, see `sandbox datasets list`.")]
Files = Annotated[list[Path], typer.Argument(help="Published files (JSON, JSON lines, gz, zip), or tables.")]
RowName = Annotated[str, typer.Argument(help="Id of the problem.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace the rows added before.")]
Kind = Annotated[
    str | None,
    typer.Option("--type", help="Benchmark class, required for an unregistered dataset.", show_default=False),
]
AsPrompt = Annotated[bool, typer.Option("--prompt", help="Print the prompt instead of the row.")]


def register(app: typer.Typer) -> None:
    datasets = typer.Typer(help="List, add, show and remove datasets of the judge.", no_args_is_help=True)
    datasets.command("list")(list_datasets)
    datasets.command("add")(add)
    datasets.command("show")(show)
    datasets.command("remove")(remove)
    app.add_typer(datasets, name="datasets")


def list_datasets(as_json: AsJson = False, config: Config = None, sets: Set = None) -> None:
    """List the datasets with number and location of their rows."""
    settings = settings_from(config, sets)
    rows = _run_with_rows(settings, lambda source: _dataset_rows(source, settings))
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        titles = ("dataset", "rows", "source", "class")
        print_table(titles, [[str("" if row[title] is None else row[title]) for title in titles] for row in rows])


def add(name: Name, files: Files, kind: Kind = None, replace: Replace = False, config: Config = None, sets: Set = None) -> None:
    """Import the rows of a dataset from files."""
    from sandbox_runtime.benchmarks.importers import parse_file, read_published
    from sandbox_runtime.judge.rows.table_writer import write_table

    settings = settings_from(config, sets)
    dataset = _dataset(settings, name, kind)
    table = read_published([parse_file(str(path), _content(path)) for path in files], name)
    for row in table.rows:
        _check_row(dataset, row)
    count = write_table(Path(settings.tables_dir), dataset.table, table.rows, replace=replace)
    print(f"{name}: {count} rows, in {settings.tables_dir}")
    if kind is not None:
        print(f"the dataset is not registered: set config.dataset_type to {kind} in requests")


def show(
    name: Name, row_id: RowName, as_prompt: AsPrompt = False, kind: Kind = None, config: Config = None, sets: Set = None
) -> None:
    """Print one problem of a dataset."""
    from sandbox_runtime.model.judge import Options

    settings = settings_from(config, sets)
    dataset = _dataset(settings, name, kind)
    row = _run_with_rows(settings, lambda rows: rows.get(dataset, row_id))
    if not as_prompt:
        print(json.dumps(dict(row), indent=2, ensure_ascii=False))
        return
    for prompt in dataset.benchmark.prompts(row, Options(name)):
        print(prompt.prompt if isinstance(prompt.prompt, str) else json.dumps(list(map(dict, prompt.prompt)), indent=2))


def remove(name: Name, config: Config = None, sets: Set = None) -> None:
    """Remove the imported rows of a dataset."""
    from sandbox_runtime.benchmarks.registry import table_of
    from sandbox_runtime.judge.rows.table_writer import remove_table

    settings = settings_from(config, sets)
    dataset = _registered(settings).get(name)
    tables = (table_of(name),) if dataset is None else (dataset.table, *dataset.other_tables)
    if not any([remove_table(Path(settings.tables_dir), table) for table in tables]):
        raise NotFound(f"{settings.tables_dir} has no rows of {name!r}")
    print(f"removed the rows of {name}")


async def _dataset_rows(rows: Rows, settings: Settings) -> list[dict[str, Any]]:
    listed = []
    for dataset in _registered(settings).values():
        source = await rows.source_of(dataset)
        count = 0 if source is None else await rows.count(dataset)
        listed.append({"dataset": dataset.id, "rows": count, "source": source, "class": dataset.benchmark.name})
    return listed


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
        raise NotFound(f"unknown dataset {name!r}; give its benchmark class with --type, one of {', '.join(classes)}")
    return Dataset(name, classes[kind], table_of(name, settings.dataset.default_dataset_table))


def _check_row(dataset: Dataset, row: Any) -> None:
    """Check that the benchmark can use the row, so that bad rows are refused now and not when they are judged."""
    from sandbox_runtime.model.judge import Options

    try:
        dataset.benchmark.prompts(row, Options(dataset.id))
    except InvalidRequest as error:
        raise InvalidRequest(f"{dataset.id} cannot use the row {str(next(iter(row.values()), ''))[:60]!r}: {error}") from error


def _content(path: Path) -> bytes:
    from sandbox_runtime.benchmarks.importers.source_text import MAX_BYTES

    try:
        if path.stat().st_size > MAX_BYTES:
            raise InvalidRequest(f"{path} is larger than {MAX_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise InvalidRequest(f"cannot read {path}: {error}") from error


def _run_with_rows(settings: Settings, work: Callable[[Rows], Awaitable[T]]) -> T:
    from sandbox_runtime.assembly import build_row_options
    from sandbox_runtime.judge.rows import open_rows

    async def run() -> T:
        async with open_rows(build_row_options(settings)) as rows:
            return await work(rows)

    return asyncio.run(run())
