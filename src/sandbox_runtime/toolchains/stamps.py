"""What stands, and what it was made from: one stamp for each language, written when its installation came to its end."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from pathlib import Path

from sandbox_runtime.languages import Language

_FOLDER = ".stamps"


def digest(language: Language) -> str:
    """Changes with whatever an installation is made from: the install table and the files that its commands may use."""
    assets = [(file.name, hashlib.sha256(file.content).hexdigest()) for file in language.assets]
    table = {name: value for name, value in dataclasses.asdict(language.install).items() if value}
    made_from = json.dumps([table, assets], sort_keys=True)
    return hashlib.sha256(made_from.encode()).hexdigest()


def stands(root: Path, language: Language) -> bool:
    try:
        return _place(root, language).read_text(encoding="ascii") == digest(language)
    except (OSError, UnicodeDecodeError):
        return False


def stamp(root: Path, language: Language) -> None:
    """At once or not at all: a half-written stamp would mean another installation, but never a false claim."""
    place = _place(root, language)
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_suffix(f".{os.getpid()}")
    fresh.write_text(digest(language), encoding="ascii")
    fresh.replace(place)


def unstamp(root: Path, language: Language) -> None:
    _place(root, language).unlink(missing_ok=True)


def _place(root: Path, language: Language) -> Path:
    return root / _FOLDER / language.name
