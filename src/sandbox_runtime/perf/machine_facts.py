"""Where the figures come from: without it they mean nothing."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
from pathlib import Path
from typing import Any

from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import LayerState


def facts(guest_python: str, guest_version: str) -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "cores_allowed": len(os.sched_getaffinity(0)),
        "processor": _processor(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "guest_python": guest_python,
        "guest_version": guest_version,
        "bwrap": shutil.which("bwrap") or "",
        "cgroup": _cgroup(),
        "root": os.geteuid() == 0,
        "load_average": list(os.getloadavg()),
    }


async def idle_share(seconds: float = 0.5) -> float:
    """How much of the machine's time nobody used while we wait: 1 on a machine that has nothing else to do."""
    idle_before, all_before = _ticks()
    await asyncio.sleep(seconds)
    idle_after, all_after = _ticks()
    return (idle_after - idle_before) / max(1, all_after - all_before)


def _ticks() -> tuple[int, int]:
    """Idle ones and all, of every core since the start of the machine. The last two fields are part of others."""
    with Path("/proc/stat").open() as file:
        fields = [int(word) for word in file.readline().split()[1:9]]
    return fields[3] + fields[4], sum(fields)


def isolation(backend: Backend) -> dict[str, Any]:
    off = [report.layer.value for report in backend.layers() if report.state is not LayerState.on]
    return {"backend": backend.name, "layers_off": off}


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.lower().startswith(("model name", "cpu model", "hardware")):
            return line.partition(":")[2].strip()
    return platform.processor()


def _cgroup() -> str:
    """Which version carries the memory controller here."""
    rows = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    if any(row[2] == "cgroup" and "memory" in row[3].split(",") for row in rows):
        return "version 1"
    return "version 2" if any(row[2] == "cgroup2" for row in rows) else "none"
