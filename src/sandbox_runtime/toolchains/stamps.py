"""What stands, and what it was made from: one stamp for each language, written when its installation came to its end."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from pathlib import Path

from sandbox_runtime.languages import Language

_FOLDER = ".stamps"


def digest(language: Language, assets: str) -> str:
    """Changes with whatever an installation is made from: the install table and the row's own files."""
    table = {name: value for name, value in dataclasses.asdict(language.install).items() if value}
    files = [
        (path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in sorted(Path(assets).glob("*")) if path.is_file()
    ]
    return hashlib.sha256(json.dumps([table, files], sort_keys=True).encode()).hexdigest()


def stands(root: Path, language: Language, assets: str) -> bool:
    try:
        return _place(root, language).read_text(encoding="ascii") == digest(language, assets)
    except (OSError, UnicodeDecodeError):
        return False


def stamp(root: Path, language: Language, assets: str) -> None:
    """At once or not at all: a half-written stamp would mean another installation, but never a false claim."""
    place = _place(root, language)
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_suffix(f".{os.getpid()}")
    fresh.write_text(digest(language, assets), encoding="ascii")
    fresh.replace(place)


def unstamp(root: Path, language: Language) -> None:
    _place(root, language).unlink(missing_ok=True)


def _place(root: Path, language: Language) -> Path:
    return root / _FOLDER / language.name
