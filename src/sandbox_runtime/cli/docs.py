"""`sandbox docs`: reference pages generated from the code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sandbox_runtime.errors import Conflict

Folder = Annotated[Path, typer.Option(help="Folder of the reference pages.")]
Write = Annotated[bool, typer.Option("--write", help="Write the pages instead of comparing them.")]


def register(app: typer.Typer) -> None:
    app.command("docs")(docs)


def docs(folder: Folder = Path("docs/reference"), write: Write = False) -> None:
    """Check that the generated reference pages are current, or write them."""
    from sandbox_runtime.cli.reference import generate_pages

    pages = generate_pages()
    stale = [name for name, text in pages.items() if not _is_current(folder / name, text)]
    if write:
        for name in stale:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(pages[name], encoding="utf-8")
    elif stale:
        raise Conflict(f"stale in {folder}: {', '.join(stale)}; run `sandbox docs --write`")
    print(f"{len(stale)} written" if write else "all up to date")


def _is_current(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text
