"""Helpers to open boxes and run commands in them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from tests.conftest import SingleUse

from sandbox_runtime.isolation.port import Backend, Box
from sandbox_runtime.model import Command, Layer, LayerState, Limits, Outcome, Policy


class RecordingSink:
    """A sink that records output and can wait for a text."""

    def __init__(self) -> None:
        self.pieces: list[tuple[str, bytes]] = []
        self._more = asyncio.Event()

    def __call__(self, stream: str, piece: bytes) -> None:
        self.pieces.append((stream, piece))
        self._more.set()

    def of(self, stream: str) -> bytes:
        return b"".join(piece for name, piece in self.pieces if name == stream)

    async def until(self, text: bytes, stream: str = "stdout") -> None:
        async with asyncio.timeout(60):
            while text not in self.of(stream):
                self._more.clear()
                await self._more.wait()


def put_file(box: Box, name: str, content: bytes, mode: int = 0o644) -> None:
    """A file of the workspace. The name is a test's own, so nothing stands in its way."""
    path = f"{box.writable[box.workdir]}/{name}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode, dir_fd=box.files_fd)
    with open(descriptor, "wb") as file:
        file.write(content)


@asynccontextmanager
async def open_box(backend: Backend, policy: Policy | None = None) -> AsyncIterator[Box]:
    box = await backend.open(policy or Policy())
    try:
        yield box
    finally:
        await box.close()


def command(
    *argv: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None, cwd: str | None = None, **limits: float | None
) -> Command:
    return Command(argv, stdin=stdin, env=env or {}, cwd=cwd, limits=Limits().replace(**limits))


def shell(script: str, **given: object) -> Command:
    return command("bash", "-c", script, **given)  # type: ignore[arg-type]


async def run(backend: Backend, ordered: Command) -> Outcome:
    """Run the command in a new box."""
    async with open_box(backend) as box:
        return await box.run(ordered)


async def run_python(backend: Backend, python: str, source: str, **given: object) -> Outcome:
    async with open_box(backend) as box:
        put_file(box, "main.py", source.encode())
        return await box.run(command(python, "main.py", **given))  # type: ignore[arg-type]


def needs(backend: Backend, *layers: Layer) -> None:
    """Skips where this backend does not hold a layer on this host, with its own reason."""
    for report in backend.layers():
        if report.layer in layers and report.state is not LayerState.on:
            pytest.skip(f"{backend.name} has no layer {report.layer} here: {report.detail}")


def needs_many_commands(backend: Backend) -> None:
    if isinstance(backend, SingleUse):
        pytest.skip("these boxes serve one command")
