"""`sandbox cp`: files into a session and out of it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.remote import Url, client_of
from sandbox_runtime.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from sandbox_runtime.sdk import SyncSandboxClient

Source = Annotated[str, typer.Argument(metavar="FROM", help="A local path, or SESSION:PATH.")]
Target = Annotated[
    str, typer.Argument(metavar="TO", help="The other kind; a folder or a name ending in / keeps the file's own name.")
]
Recursive = Annotated[bool, typer.Option("--recursive", "-r", help="A folder with all that is in it.")]

_MOST_FILES = 10_000


def register(app: typer.Typer) -> None:
    app.command("cp")(cp)


def cp(source: Source, target: Target, recursive: Recursive = False, url: Url = "") -> None:
    """Copy files into a session or out of it: `sandbox cp data.csv SESSION:input/`, `sandbox cp SESSION:plot.png .`"""
    there_from, there_to = _remote(source), _remote(target)
    if (there_from is None) == (there_to is None):
        raise InvalidRequest("one of the two lies in a session: write that one as SESSION:PATH, a local one with a / as ./PATH")
    with client_of(url) as client:
        if there_to is not None:
            _upload(client, Path(source), *there_to, recursive)
        elif there_from is not None:
            _download(client, *there_from, Path(target), recursive)


def _remote(text: str) -> tuple[str, str] | None:
    """A colon before the first slash tells that it is elsewhere, as with other commands of this kind."""
    session, colon, path = text.partition(":")
    return (session, path.removeprefix("/workspace/")) if colon and session and "/" not in session else None


def _upload(client: SyncSandboxClient, source: Path, session: str, target: str, recursive: bool) -> None:
    if not source.is_dir():
        client.upload_file(session, source, _named(target, source.name))
        return
    if not recursive:
        raise InvalidRequest(f"{source} is a folder: add --recursive to copy all that is in it")
    for file in sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink()):
        client.upload_file(session, file, str(PurePosixPath(target or source.name) / file.relative_to(source)))


def _download(client: SyncSandboxClient, session: str, source: str, target: Path, recursive: bool) -> None:
    if not recursive:
        name = PurePosixPath(source).name
        if not name:
            raise InvalidRequest("name the file to be copied: SESSION:PATH; or add --recursive for a whole folder")
        client.save_file(session, source, target / name if target.is_dir() else target)
        return
    names = [one.name for one in client.list_files(session, source, _MOST_FILES) if one.type != "directory"]
    if not names:
        raise NotFound(f"there is no file below {source or 'the workspace'} in the session {session}")
    for name in names:
        place = target / _below(name, source)
        place.parent.mkdir(parents=True, exist_ok=True)
        client.save_file(session, name, place)


def _below(name: str, folder: str) -> PurePosixPath:
    """A server that tells names which lead elsewhere is not followed there."""
    path = PurePosixPath(name)
    found = path.relative_to(folder) if folder and path.is_relative_to(folder) else path
    if found.is_absolute() or ".." in found.parts:
        raise InvalidRequest(f"the session has a file called {name!r}, which is not copied: it would lie outside the target")
    return found


def _named(target: str, name: str) -> str:
    return f"{target}{name}" if not target or target.endswith("/") else target
