"""Open the row sources in order of precedence: the operator's folders, a database, the bundled samples."""

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
    folders: tuple[str, ...] = ()
    """The operator's folders, by precedence."""
    datalake_url: str = ""
    """Empty: no database."""
    samples: Path | None = None
    """Folder of the sample rows. None: samples are not used."""
    database: StoreOptions = field(default_factory=StoreOptions)


@asynccontextmanager
async def open_rows(options: RowOptions) -> AsyncIterator[Rows]:
    """Open the sources. Nothing is read or connected before the first request."""
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
