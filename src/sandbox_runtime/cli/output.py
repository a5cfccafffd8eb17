"""Printing tables and writing files, shared by the commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.errors import InvalidRequest

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def print_table(titles: Sequence[str], rows: Iterable[Sequence[str]], no_wrap: str = "") -> None:
    """`no_wrap`: title of a column that is never wrapped."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    for title in titles:
        table.add_column(title, overflow="fold", no_wrap=title == no_wrap)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def write_text(path: Path, text: str) -> None:
    """Write a file. Raises InvalidRequest."""
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise InvalidRequest(f"cannot write {path}: {error.strerror}") from error
