"""What a command may use up."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from sandbox_runtime.quantities import GIB as GIB
from sandbox_runtime.quantities import KIB as KIB
from sandbox_runtime.quantities import MIB as MIB
from sandbox_runtime.quantities import check_range

_BOUNDS: dict[str, tuple[float, float]] = {
    "wall_s": (0.001, 86_400),
    "cpu_s": (0.001, 86_400),
    "memory_bytes": (4 * MIB, 1024 * GIB),
    "processes": (1, 100_000),
    "output_bytes": (1, 16 * GIB),
    "file_bytes": (1, 1024 * GIB),
    "disk_bytes": (64 * KIB, 1024 * GIB),
    "disk_files": (16, 100_000_000),
    "open_files": (16, 1_000_000),
    "cpu_cores": (0.01, 4096),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one command. None means: bounded only by the box's other limits and the machine.

    wall_s and cpu_s are separate on purpose: a busy neighbour must not turn a right answer into a time limit.
    disk_bytes and disk_files bound the whole writable area of the box and take effect when the box is opened.
    """

    wall_s: float = 10.0
    cpu_s: float | None = None
    memory_bytes: int | None = 512 * MIB
    processes: int = 128
    output_bytes: int = 64 * MIB
    file_bytes: int = 256 * MIB
    disk_bytes: int = 256 * MIB
    disk_files: int = 65_536
    open_files: int = 1024
    cpu_cores: float = 2.0

    def __post_init__(self) -> None:
        for name, (low, high) in _BOUNDS.items():
            value = getattr(self, name)
            if value is None and name in ("cpu_s", "memory_bytes"):
                continue
            check_range(value, name, low, high)

    def replace(self, **changes: float | None) -> Limits:
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]
