"""`sandbox cp`: copy files to and from a session."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.remote import Url, open_client
from sandbox_runtime.errors import InvalidRequest, NotFound

if TYPE_CHECKING:
    from sandbox_runtime.sdk import SyncSandboxClient

Source = Annotated[str, typer.Argument(metavar="FROM", help="A local path, or SESSION:PATH.")]
Target = Annotated[
    str,
    typer.Argument(
        metavar="TO",
        help="SESSION:PATH if FROM is local, else a local path. A folder, or a path ending in /, keeps the file name.",
    ),
]
Recursive = Annotated[bool, typer.Option("--recursive", "-r", help="Copy a folder recursively.")]

_MAX_FILES = 10_000


def register(app: typer.Typer) -> None:
    app.command("cp")(cp)


def cp(source: Source, target: Target, recursive: Recursive = False, url: Url = "") -> None:
    """Copy files to or from a session: `sandbox cp data.csv SESSION:input/`, `sandbox cp SESSION:plot.png .`"""
    remote_source, remote_target = _parse_remote(source), _parse_remote(target)
    if (remote_source is None) == (remote_target is None):
        raise InvalidRequest("exactly one of FROM and TO must be SESSION:PATH; write a local path that contains : as ./PATH")
    with open_client(url) as client:
        if remote_target is not None:
            _upload(client, Path(source), *remote_target, recursive)
        elif remote_source is not None:
            _download(client, *remote_source, Path(target), recursive)


def _parse_remote(text: str) -> tuple[str, str] | None:
    """Return session and path if the text has a colon before the first slash, as in scp; else None."""
    session, colon, path = text.partition(":")
    return (session, path.removeprefix("/workspace/")) if colon and session and "/" not in session else None


def _upload(client: SyncSandboxClient, source: Path, session: str, target: str, recursive: bool) -> None:
    if not source.is_dir():
        client.upload_file(session, source, _target_path(target, source.name))
        return
    if not recursive:
        raise InvalidRequest(f"{source} is a folder; add --recursive to copy it")
    for file in sorted(path for path in source.rglob("*") if path.is_file() and not path.is_symlink()):
        client.upload_file(session, file, str(PurePosixPath(target or source.name) / file.relative_to(source)))


def _download(client: SyncSandboxClient, session: str, source: str, target: Path, recursive: bool) -> None:
    if not recursive:
        name = PurePosixPath(source).name
        if not name:
            raise InvalidRequest("the path of the file is missing: use SESSION:PATH, or add --recursive to copy a folder")
        client.save_file(session, source, target / name if target.is_dir() else target)
        return
    names = [file.name for file in client.list_files(session, source, _MAX_FILES) if file.type != "directory"]
    if not names:
        raise NotFound(f"no files below {source or 'the workspace'} in the session {session}")
    for name in names:
        path = target / _relative(name, source)
        path.parent.mkdir(parents=True, exist_ok=True)
        client.save_file(session, name, path)


def _relative(name: str, folder: str) -> PurePosixPath:
    """Return the name relative to the folder. Raises InvalidRequest for a name that leads outside the target."""
    path = PurePosixPath(name)
    relative = path.relative_to(folder) if folder and path.is_relative_to(folder) else path
    if relative.is_absolute() or ".." in relative.parts:
        raise InvalidRequest(f"cannot copy {name!r}: it would be written outside the target folder")
    return relative


def _target_path(target: str, name: str) -> str:
    return f"{target}{name}" if not target or target.endswith("/") else target
