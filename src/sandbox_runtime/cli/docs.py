"""`sandbox docs`: the reference pages that are made from the code, so that they cannot be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.errors import Conflict

Folder = Annotated[Path, typer.Option(help="Folder of the reference pages.")]
Write = Annotated[bool, typer.Option("--write", help="Write the pages; without it they are only compared.")]


def register(app: typer.Typer) -> None:
    app.command("docs")(docs)


def docs(folder: Folder = Path("docs/reference"), write: Write = False) -> None:
    """Make the reference pages, or tell which are stale."""
    from sandbox_runtime.cli.reference import pages

    made = pages()
    stale = [name for name, text in made.items() if not _same(folder / name, text)]
    if write:
        for name in stale:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(made[name], encoding="utf-8")
    elif stale:
        raise Conflict(f"stale in {folder}: {', '.join(stale)}; run `sandbox docs --write`")
    print(f"{len(stale)} written" if write else "all up to date")


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text
