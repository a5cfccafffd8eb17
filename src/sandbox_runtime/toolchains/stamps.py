"""What stands, and what it was made from: one stamp for each language, written when its installation came to its end."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from pathlib import Path

from sandbox_runtime.languages import Language

_FOLDER = ".stamps"


def digest(language: Language, assets: str) -> str:
    """Changes with whatever an installation is made from: the install table, the row's own files, the programs it names."""
    table = {name: value for name, value in dataclasses.asdict(language.install).items() if value}
    files = [
        (path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in sorted(Path(assets).glob("*")) if path.is_file()
    ]
    made_from = [table, files, *([_programs(language)] if language.install.made_with else [])]
    return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()


def _programs(language: Language) -> list[str]:
    """Each as it is now: an upgrade gives it another size or time."""
    found = [os.path.realpath(shutil.which(name) or name) for name in language.install.made_with]
    return [f"{path} {(status := os.stat(path)).st_size} {status.st_mtime_ns}" for path in found if os.path.exists(path)]


def is_installed(root: Path, language: Language, assets: str) -> bool:
    try:
        return _stamp_path(root, language).read_text(encoding="ascii") == digest(language, assets)
    except (OSError, UnicodeDecodeError):
        return False


def write_stamp(root: Path, language: Language, assets: str) -> None:
    """At once or not at all: a half-written stamp would mean another installation, but never a false claim."""
    path = _stamp_path(root, language)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(digest(language, assets), encoding="ascii")
    fresh.replace(path)


def remove_stamp(root: Path, language: Language) -> None:
    _stamp_path(root, language).unlink(missing_ok=True)


def _stamp_path(root: Path, language: Language) -> Path:
    return root / _FOLDER / language.name
