"""Jars that a client fetched, compared with the hashes of a lock file before anything uses them.

    python -m sandbox_runtime.toolchains.verify LOCK FETCHED FOLDER

Each line of LOCK is a SHA-256 and a file name, as sha256sum prints them. FETCHED must hold these files and no others; they are
moved to FOLDER.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path

_LINE = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9_][A-Za-z0-9_.+-]*)")


class Mismatch(Exception):
    """What was fetched is not what the lock file names."""


def read_lock(text: str) -> dict[str, str]:
    """File name → SHA-256. Raise Mismatch for a line of another form."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise Mismatch(f"the lock file has a line that is no hash and name: {line[:100]!r}")
        found[match[2]] = match[1]
    return found


def check(folder: Path, wanted: Mapping[str, str]) -> None:
    """Raise Mismatch unless the folder holds just these files."""
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    for name in sorted({*there, *wanted}):
        if name not in wanted:
            raise Mismatch(f"{name} was fetched and is not in the lock file: run make lock, and look at what changed")
        if name not in there:
            raise Mismatch(f"{name} is in the lock file and was not fetched: run make lock, and look at what changed")
        if there[name] != wanted[name]:
            raise Mismatch(f"{name} has the SHA-256 {there[name]}, not {wanted[name]} as the lock file says: do not use it")


def main(words: list[str]) -> int:
    lock, fetched, folder = map(Path, words)
    try:
        names = read_lock(lock.read_text(encoding="utf-8"))
        check(fetched, names)
        for name in names:
            (fetched / name).replace(folder / name)
        fetched.rmdir()
    except (Mismatch, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
