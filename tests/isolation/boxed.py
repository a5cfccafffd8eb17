"""Short words for what the tests of this room do with boxes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from sandbox_runtime.isolation.port import Backend, Box
from sandbox_runtime.model import Command, Limits, Outcome, Policy


def put(box: Box, name: str, content: bytes, mode: int = 0o644) -> None:
    """A file of the workspace. The name is a test's own, so nothing stands in its way."""
    path = f"{box.writable[box.workdir]}/{name}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode, dir_fd=box.files_fd)
    with open(descriptor, "wb") as file:
        file.write(content)


@asynccontextmanager
async def opened(backend: Backend, policy: Policy | None = None) -> AsyncIterator[Box]:
    box = await backend.open(policy or Policy())
    try:
        yield box
    finally:
        await box.close()


async def run_in(
    backend: Backend, *argv: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None, **limits: float | None
) -> Outcome:
    """One command in a box of its own."""
    async with opened(backend) as box:
        return await box.run(Command(argv, stdin=stdin, env=env or {}, limits=Limits().replace(**limits)))
