"""The storage that was configured."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.workspace.storage.local import LocalStorage
from sandbox_runtime.workspace.storage.port import S3Options, Storage


@dataclass(frozen=True, slots=True)
class StorageOptions:
    folder: str
    """Of the embedded storage, used unless s3 is given."""
    s3: S3Options | None = None


@contextlib.asynccontextmanager
async def open_storage(options: StorageOptions) -> AsyncIterator[Storage]:
    if options.s3 is None:
        with LocalStorage(options.folder) as local:
            yield local
        return
    try:
        from sandbox_runtime.workspace.storage.s3 import open_s3
    except ImportError as error:
        raise Unavailable("storage in S3 needs the extra of that name: pip install 'sandbox-runtime[s3]'") from error
    async with open_s3(options.s3) as s3:
        yield s3
