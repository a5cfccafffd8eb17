"""Writable areas as boxes have them, in temporary folders, and what a guest may put into them."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
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

    @property
    def work(self) -> Path:
        return self.path / "work"


@contextlib.contextmanager
def area_in(path: Path, name: str = "area") -> Iterator[Folder]:
    root = path / name
    for folder in ("work", "temporary"):
        (root / folder).mkdir(parents=True)
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield Folder(root, descriptor, {"/work": "work", "/tmp": "temporary", "/tmp/deep": "work"}, "/work")
    finally:
        os.close(descriptor)


def tree(path: Path) -> dict[str, bytes | str | None]:
    """Everything below: content of files, targets of links, None for folders."""
    found: dict[str, bytes | str | None] = {}
    for item in sorted(path.rglob("*")):
        name = str(item.relative_to(path))
        found[name] = f"-> {os.readlink(item)}" if item.is_symlink() else None if item.is_dir() else item.read_bytes()
    return found


def make_special(folder: Path) -> None:
    """A FIFO, a socket, and links to a file, to a folder, out, up and to nothing."""
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(folder)
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
    for name, target in (("out", "/etc/passwd"), ("up", "../.."), ("root", "/"), ("nothing", "no-such"), ("self", "self")):
        (folder / name).symlink_to(target)


def make_deep(folder: Path, depth: int, name: str = "d" * 100) -> None:
    """Folders in one another, deeper than any path can tell."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=descriptor)
        deeper = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = deeper
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)


@contextlib.contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """The act again and again in another thread, as a hostile guest would."""
    over = threading.Event()

    def again() -> None:
        while not over.is_set():
            act()

    thread = threading.Thread(target=again)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def swapping(folder: Path, outside: Path) -> Callable[[], None]:
    """Swaps the folder swap for a link out of the area, and back, whatever is done to it meanwhile."""
    swap = folder / "swap"
    swap.mkdir(exist_ok=True)
    numbers = itertools.count()

    def act() -> None:
        aside = folder.parent / f"aside{next(numbers)}"
        with contextlib.suppress(OSError):
            swap.rename(aside)
            swap.symlink_to(outside)
        with contextlib.suppress(OSError):
            swap.unlink()
            aside.rename(swap)

    return act


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))
