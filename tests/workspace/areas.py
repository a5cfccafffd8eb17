"""A writable area as a box has one, in a temporary folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.workspace import Quotas

QUOTAS = Quotas(max_files=10, max_file_bytes=1000, max_total_bytes=2000)


@dataclass
class Folder:
    path: Path
    files_fd: int
    writable: Mapping[str, str]
    workdir: str


@contextmanager
def area_in(path: Path) -> Iterator[Folder]:
    root = path / "area"
    for name in ("work", "temporary"):
        (root / name).mkdir(parents=True)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield Folder(root, descriptor, {"/work": "work", "/tmp": "temporary", "/tmp/deep": "work"}, "/work")
    finally:
        os.close(descriptor)
