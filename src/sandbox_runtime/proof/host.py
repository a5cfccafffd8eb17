"""Facts about this machine that decide what boxes can be, and what of it is worth a warning. Only looks, changes nothing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.isolation.kernel.cgroup.mounts import read_mounts

TOOLS = ("bwrap", "nft", "pasta", "slirp4netns", "g++")
_VULNERABILITIES = Path("/sys/devices/system/cpu/vulnerabilities")
_CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")
_ASK_TIMEOUT_S = 20


@dataclass(frozen=True, slots=True)
class Warning:
    """Something of the host that weakens what boxes promise and that no box can mend."""

    text: str
    fix: str


def facts(guest_python: str) -> dict[str, str]:
    return {
        "kernel": f"{platform.release()} {platform.machine()}",
        "user": "root" if os.geteuid() == 0 else f"plain user {os.geteuid()}",
        "cgroup": _cgroups(),
        "guest interpreter": f"{guest_python} ({_version(guest_python)})",
        **{name: shutil.which(name) or "not installed" for name in TOOLS},
    }


def warnings() -> list[Warning]:
    return [warning for warning in (_dump_program(), _leaky_processor(), _no_user_namespaces()) if warning]


def _cgroups() -> str:
    mounts = read_mounts(Path("/proc/self/mountinfo").read_text())
    versions = sorted({mount.version for mount in mounts})
    return "version " + " and ".join(map(str, versions)) if versions else "none mounted"


def _version(python: str) -> str:
    try:
        answer = subprocess.run([python, "--version"], capture_output=True, timeout=_ASK_TIMEOUT_S, text=True, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f"cannot be started: {error}"
    return answer.stdout.strip()


def _dump_program() -> Warning | None:
    """The kernel starts it as root, outside of every box, with the crashed program's memory as its input."""
    try:
        pattern = _CORE_PATTERN.read_text().strip()
    except OSError:
        return None
    if not pattern.startswith("|"):
        return None
    text = f"a program that crashes in a box makes the kernel start {pattern[1:].split()[0]} on the host"
    return Warning(text, "sysctl -w kernel.core_pattern=core")


def _leaky_processor() -> Warning | None:
    try:
        open_ones = sorted(path.name for path in _VULNERABILITIES.iterdir() if path.read_text().startswith("Vulnerable"))
    except OSError:
        return None
    if not open_ones:
        return None
    return Warning(
        f"the processor leaks between programs ({', '.join(open_ones)})", "update kernel and microcode; remove mitigations=off"
    )


def _no_user_namespaces() -> Warning | None:
    limit = Path("/proc/sys/user/max_user_namespaces")
    try:
        allowed = int(limit.read_text())
    except (OSError, ValueError):
        return None
    return None if allowed else Warning("user namespaces are switched off", "sysctl -w user.max_user_namespaces=15000")
