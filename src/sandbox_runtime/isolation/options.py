"""Options of a backend, set by the operator."""

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
"""Standard library modules that most programs import; a forked box has them for free. Large modules that few programs use
(asyncio, unittest, logging) are left out, because every box pays for each megabyte. A preset can add them."""

DATA_MODULES = ("numpy", "pandas")
PLOT_MODULES = (*DATA_MODULES, "matplotlib", "matplotlib.pyplot")


@dataclass(frozen=True, slots=True)
class Preset:
    """A warm interpreter.

    modules: modules to import in advance.
    eager: start it with the backend instead of on first use.
    injected: further modules as (name, source) that programs can import. A function `preload` in one is called once.
    copyable: live programs started from it can be continued in other boxes (inside/process_image.py).
    """

    modules: tuple[str, ...] = ()
    eager: bool = True
    injected: tuple[tuple[str, str], ...] = ()
    copyable: bool = False


@dataclass(frozen=True, slots=True)
class BackendOptions:
    guest_python: str
    state_dir: str
    toolchains_dir: str = ""
    """Folder of compilers and libraries outside the system folders. Visible at the same path in boxes whose policy has
    toolchains."""
    presets: Mapping[str, Preset] = field(default_factory=lambda: {"std": Preset(STANDARD_MODULES)})
    keep_bytes: int = 8 * MIB
    """How much of each output stream of a command is kept, head and tail together."""
    usual_limits: Limits = field(default_factory=Limits)
    """Limits that most commands have. They are set on a box while it waits, which saves time for commands with these limits."""
    box_uid_base: int = 200_000
    """First host user of boxes. As root each box runs as its own user: this number plus its slot."""
    box_slots: int = 4096
    images_dir: str = ""
    """Folder on disk for session files that are too large for memory. Empty: all are in memory."""
    memory_files_bytes: int | None = None
    """Largest area that is kept in memory; None: all are."""
    nat: NatOptions = field(default_factory=NatOptions)
    guest_check_s: float = 5.0
    """Interval between checks for an upgrade of the guest interpreter."""
