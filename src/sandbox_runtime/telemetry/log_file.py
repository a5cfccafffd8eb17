"""A log file that does not grow without end: when it is full it is put aside under a name with the time, and a new one begins.

What was put aside is compressed and, when it is too old or there is too much of it, deleted; a thread does both, so that nobody
who logs waits for it. Several processes may not share one file: each would put aside what another writes.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sandbox_runtime.errors import InvalidRequest

MIB, DAY_S = 1024 * 1024, 86_400
_MODE = 0o600
_STAMP = "%Y-%m-%dT%H-%M-%S.%f"
_WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Rotation:
    """backups: files put aside that are kept, 0 for all. age_s: after which they go, however few there are; 0 for never."""

    size_bytes: int = 100 * MIB
    backups: int = 3
    age_s: float = 28 * DAY_S
    compress: bool = True


class LogFile(io.TextIOBase):
    """Lines stay whole: it changes files between two of them. A disk that fails is told on stderr, and so are the lines then."""

    def __init__(self, path: Path, rotation: Rotation) -> None:
        self._path = path
        self._rotation = rotation
        self._lock = threading.Lock()
        self._tidying: threading.Thread | None = None
        self._failed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = self._opened()
        except OSError as error:
            raise InvalidRequest(f"the log file {str(path)!r} cannot be written: {error.strerror}") from error
        self._size_bytes = os.fstat(self._descriptor).st_size
        self._at_line_start = True
        self._tidy_soon()

    def write(self, text: str) -> int:
        raw = text.encode(errors="backslashreplace")
        with self._lock:
            try:
                self._written(raw)
            except OSError as error:
                self._told_elsewhere(text, error)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """Idempotent. Waits for what is being compressed, for a while."""
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
        if self._tidying is not None:
            self._tidying.join(_WAIT_S)
        super().close()

    def _written(self, raw: bytes) -> None:
        if self._descriptor < 0 or not raw:
            return
        if self._at_line_start and self._size_bytes and self._size_bytes + len(raw) > self._rotation.size_bytes:
            self._put_aside()
        view = memoryview(raw)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self._size_bytes += len(raw)
        self._at_line_start = raw.endswith(b"\n")

    def _told_elsewhere(self, text: str, error: OSError) -> None:
        if not self._failed:
            self._failed = True
            print(f"the log file {self._path} cannot be written, lines go here: {error.strerror}", file=sys.stderr)
        sys.stderr.write(text)

    def _opened(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, _MODE)

    def _put_aside(self) -> None:
        stamp = datetime.now(UTC).strftime(_STAMP)
        os.rename(self._path, self._path.with_name(f"{self._path.stem}-{stamp}{self._path.suffix}"))
        fresh = self._opened()
        os.close(self._descriptor)
        self._descriptor, self._size_bytes = fresh, 0
        self._tidy_soon()

    def _tidy_soon(self) -> None:
        """One at a time: the one that runs may miss the newest, which the next one finds."""
        if self._tidying is None or not self._tidying.is_alive():
            self._tidying = threading.Thread(target=self._tidy, name="log-file", daemon=True)
            self._tidying.start()

    def _tidy(self) -> None:
        with contextlib.suppress(OSError):
            aside = sorted(self._aside(), reverse=True)
            most, oldest_s = self._rotation.backups or len(aside), time.time() - self._rotation.age_s
            for place, path in enumerate(aside):
                if place >= most or (self._rotation.age_s and path.stat().st_mtime < oldest_s):
                    path.unlink()
                elif self._rotation.compress and path.suffix != ".gz":
                    _compressed(path)

    def _aside(self) -> Iterator[Path]:
        """By their names, which tell the order of their times."""
        lead, tail = f"{self._path.stem}-", self._path.suffix
        for path in self._path.parent.iterdir():
            name = path.name.removesuffix(".gz")
            if not (name.startswith(lead) and name.endswith(tail)):
                continue
            with contextlib.suppress(ValueError):
                datetime.strptime(name.removeprefix(lead).removesuffix(tail), _STAMP)
                yield path


def _compressed(path: Path) -> None:
    """Under another name until it is whole."""
    part = path.with_name(f"{path.name}.part")
    times = path.stat()
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _MODE)
    with path.open("rb") as source, os.fdopen(descriptor, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb") as target:
        shutil.copyfileobj(source, target)
    os.utime(part, ns=(times.st_atime_ns, times.st_mtime_ns))
    part.rename(path.with_name(f"{path.name}.gz"))
    path.unlink()
