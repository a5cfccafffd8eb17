"""Local files for uploads and downloads."""

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
    """Yield the source as an open file. A path is opened and closed; an open file stays open."""
    if isinstance(source, bytes):
        yield io.BytesIO(source)
    elif isinstance(source, str | Path):
        try:
            file = open(source, "rb")  # noqa: SIM115 - closed below
        except OSError as error:
            raise InvalidRequest(f"cannot read {source}: {error.strerror}") from error
        with file:
            yield file
    else:
        yield source


def source_name(source: Source) -> str:
    """Return the file name of an upload without a path. Raises InvalidRequest for bytes."""
    name = source if isinstance(source, str | Path) else getattr(source, "name", "")
    if not isinstance(name, str | Path) or not Path(name).name:
        raise InvalidRequest("the source has no file name; give the path in the workspace")
    return Path(name).name


@contextlib.contextmanager
def atomic_write(target: str | Path) -> Iterator[BinaryIO]:
    """Yield a temporary file that replaces target when the block succeeds, and is removed otherwise."""
    path = Path(target)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        file = open(partial, "wb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InvalidRequest(f"cannot write {path}: {error.strerror}") from error
    try:
        with file:
            yield file
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
