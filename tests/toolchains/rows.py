"""Rows for tests of installations: none needs anything from outside."""

from __future__ import annotations

from tests.languages.language_file import GOOD

from sandbox_runtime.languages import Language
from sandbox_runtime.languages.reader import read_language


def row(name: str, install: str) -> Language:
    text = GOOD.replace('name = "awk"', f'name = "{name}"').replace("[check]", f"[install]\n{install}\n\n[check]")
    return read_language(text, f"{name}.toml")


def bash(*commands: str) -> str:
    """The commands of an installation that are given to bash."""
    return "after = [" + ", ".join(f"['/bin/bash', '-c', '''{command}''']" for command in commands) + "]"
