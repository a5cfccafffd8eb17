"""One language as its TOML file declares it."""

from __future__ import annotations

from dataclasses import dataclass

PLACEHOLDERS = ("source", "binary", "python", "workdir")
LIMITS_TO_RAISE = ("processes", "open_files", "file_bytes", "output_bytes")
"""The limits a recipe may raise. Time and memory belong to the caller, disk to the box."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one step is started. linked holds flags of which those are added that link on this host; at_least raises limits that
    are too small for the toolchain itself, and never lowers one."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    linked: tuple[str, ...] = ()
    at_least: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A program that echoes its input: the language is enabled when it does so on this host."""

    code: str
    stdin: str
    stdout: str


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    title: str
    source: str
    run: Recipe
    check: Check
    version: tuple[str, ...]
    needs: str
    compile: Recipe | None = None
    binary: str = ""
    aliases: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    warm: bool = False
    """Runs in an interpreter that is already started, with the operator's preset of modules."""
    origin: str = ""
