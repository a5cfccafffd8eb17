"""Local files on behalf of a client: blocking, and beside an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

from sandbox_runtime.errors import InvalidRequest

Source = str | Path | bytes | BinaryIO
Result = TypeVar("Result")


async def in_thread(function: Callable[..., Result], *arguments: object) -> Result:
    return await asyncio.to_thread(function, *arguments)


def call_directly(function: Callable[..., Result], *arguments: object) -> Result:
    return function(*arguments)


@contextlib.contextmanager
def open_source(source: Source) -> Iterator[BinaryIO]:
    """A path is opened and closed again; a file that is open already stays so."""
    if isinstance(source, bytes):
        yield io.BytesIO(source)
    elif isinstance(source, str | Path):
        try:
            file = open(source, "rb")  # noqa: SIM115 - closed below
        except OSError as error:
            raise InvalidRequest(f"{source} cannot be read: {error.strerror}") from error
        with file:
            yield file
    else:
        yield source


def source_name(source: Source) -> str:
    """What an upload is called that was given no name."""
    name = source if isinstance(source, str | Path) else getattr(source, "name", "")
    if not isinstance(name, str | Path) or not Path(name).name:
        raise InvalidRequest("say under which path the file shall lie in the workspace")
    return Path(name).name


@contextlib.contextmanager
def atomic_write(target: str | Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of target once all of it is there; what broke off leaves nothing."""
    path = Path(target)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        file = open(partial, "wb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be written: {error.strerror}") from error
    try:
        with file:
            yield file
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
