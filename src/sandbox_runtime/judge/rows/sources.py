"""The sources of rows in their order: folders of the operator's, a database, the samples that come with the package."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_runtime.judge.rows.folder import FolderRows
from sandbox_runtime.judge.rows.port import RowSource
from sandbox_runtime.judge.rows.rows import Rows
from sandbox_runtime.store import StoreOptions
from sandbox_runtime.store.datalake import open_datalake

SAMPLES = "samples"


@dataclass(frozen=True, slots=True)
class RowOptions:
    """folders: those of the operator's, the one that counts first. datalake_url: empty for none. samples: the folder of the
    sample rows; None: they are not used."""

    folders: tuple[str, ...] = ()
    datalake_url: str = ""
    samples: Path | None = None
    database: StoreOptions = field(default_factory=StoreOptions)


@asynccontextmanager
async def open_rows(options: RowOptions) -> AsyncIterator[Rows]:
    """Nothing is read and nothing connected before it is asked for."""
    async with AsyncExitStack() as stack:
        folders = [FolderRows(Path(path)) for path in options.folders]
        if options.samples is not None:
            folders.append(FolderRows(options.samples, SAMPLES))
        for folder in folders:
            stack.callback(folder.close)
        sources: list[RowSource] = [*folders]
        if options.datalake_url:
            lake = await stack.enter_async_context(open_datalake(options.datalake_url, options.database))
            sources.insert(len(options.folders), lake)
        yield Rows(sources)
