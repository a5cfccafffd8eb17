"""A platform that runs notebooks, and what tests ask of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.model import File, Layer, LayerState
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.model.notebook import CellResult, Notebook, NotebookResult
from sandbox_runtime.settings import Settings

WALL_S = 90.0
"""Of notebooks whose time is not what is tested: room for a busy machine."""


class Runner:
    def __init__(self, platform: Platform) -> None:
        self.platform = platform

    async def __call__(
        self, *cells: str, wall_s: float = WALL_S, memory_mib: int | None = None, cell_wall_s: float | None = None, **more: Any
    ) -> NotebookResult:
        memory_bytes = self.platform.request_limits.max_memory_bytes if memory_mib is None else memory_mib * MIB
        limits = self.platform.request_limits.default.replace(wall_s=wall_s, memory_bytes=memory_bytes)
        return await self.platform.notebooks.run(Notebook(cells, limits=limits, cell_wall_s=cell_wall_s, **more))


@asynccontextmanager
async def running(folder: Path, **settings: Any) -> AsyncIterator[Runner]:
    chosen = Settings(
        **{
            "state_dir": str(folder / "state"),
            "log_level": "error",
            "check_languages": False,
            "notebook_pool_size": 1,
            **settings,
        }
    )
    async with open_platform(chosen, prewarm=False) as platform:
        yield Runner(platform)


def skip_where_memory_is_not_counted(platform: Platform) -> None:
    """Without control groups a limit for each process stands in."""
    if not any(one.layer is Layer.memory and one.state is LayerState.on for one in platform.backend.layers()):
        pytest.skip("this host counts no memory of boxes: their limit cannot be told from other failures")


def out(cell: CellResult) -> str:
    return cell.stdout.text


def shown(cell: CellResult) -> list[object]:
    return [display.get("text/plain") for display in cell.displays]


def errors(cell: CellResult) -> list[str]:
    return [error.name for error in cell.errors]


def file(name: str, text: str) -> File:
    return File(name, text.encode())
