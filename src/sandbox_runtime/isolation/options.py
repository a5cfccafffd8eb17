"""What a backend is told by the operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_runtime.isolation.nat import NatOptions
from sandbox_runtime.model import Limits
from sandbox_runtime.model.limits import MIB

STANDARD_MODULES = (
    "abc", "array", "bisect", "calendar", "cmath", "collections", "contextlib", "copy", "dataclasses", "datetime",
    "decimal", "enum", "fractions", "functools", "heapq", "inspect", "io", "itertools", "json", "math", "numbers",
    "operator", "os", "random", "re", "statistics", "string", "struct", "sys", "textwrap", "threading", "time", "traceback",
    "types", "typing", "warnings",
)  # fmt: skip
"""Modules of the standard library that most programs use: a fork has them for nothing. Large ones that few use (asyncio,
unittest, logging) are left out, because every megabyte here is paid for by every box; a preset can name them."""

DATA_MODULES = ("numpy", "pandas")
PLOT_MODULES = (*DATA_MODULES, "matplotlib", "matplotlib.pyplot")


@dataclass(frozen=True, slots=True)
class Preset:
    """A warm interpreter. eager: started with the backend, not when it is first asked for. injected: further modules, as name and
    source, that are put where programs can import them; where one has a function preload, it is called. copied: live programs
    that were started from it can be continued in other boxes (inside/process_image.py)."""

    modules: tuple[str, ...] = ()
    eager: bool = True
    injected: tuple[tuple[str, str], ...] = ()
    copyable: bool = False


@dataclass(frozen=True, slots=True)
class BackendOptions:
    guest_python: str
    state_dir: str
    toolchains_dir: str = ""
    """Compilers and libraries that lie outside the system's folders; boxes whose policy says so see it where it is."""
    presets: Mapping[str, Preset] = field(default_factory=lambda: {"std": Preset(STANDARD_MODULES)})
    keep_bytes: int = 8 * MIB
    """What is kept of each output stream of a command, head and tail together."""
    usual_limits: Limits = field(default_factory=Limits)
    """Those that most commands have: set on a box while it waits, so that a command with these need not."""
    box_uid_base: int = 200_000
    """As root each box runs as a host user of its own: this number plus its slot."""
    box_slots: int = 4096
    images_dir: str = ""
    """Where areas of sessions that are too large for memory are made, on a disk. Empty: all are in memory."""
    memory_files_bytes: int | None = None
    """The largest that is kept in memory; None: all are."""
    nat: NatOptions = field(default_factory=NatOptions)
    guest_check_s: float = 5.0
    """How often to look whether the guest's interpreter was upgraded."""
