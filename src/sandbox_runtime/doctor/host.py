"""Facts about this machine that decide what boxes can do, and warnings. Read-only."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.isolation.kernel.cgroup.mounts import read_mounts

TOOLS = ("bwrap", "nft", "pasta", "slirp4netns", "g++")
_VULNERABILITIES = Path("/sys/devices/system/cpu/vulnerabilities")
_CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")
_COMMAND_LINE = Path("/proc/cmdline")
_PROTECTIONS = frozenset(
    {
        *("mitigations", "spectre_v2", "spectre_v2_user", "spectre_bhi", "spec_store_bypass_disable", "spec_rstack_overflow"),
        *("pti", "l1tf", "mds", "tsx_async_abort", "mmio_stale_data", "retbleed", "srbds", "gather_data_sampling"),
        "reg_file_data_sampling",
    }
)
_PROTECTION_OFF = frozenset({"nospectre_v1", "nospectre_v2", "nospectre_bhb", "nospec_store_bypass_disable", "nopti"})
_ASK_TIMEOUT_S = 20


@dataclass(frozen=True, slots=True)
class HostWarning:
    """A property of the host that weakens boxes and that no box can fix."""

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


def warnings() -> list[HostWarning]:
    return [warning for warning in (_dump_program(), _leaky_processor(), _no_user_namespaces()) if warning]


def _cgroups() -> str:
    mounts = read_mounts(Path("/proc/self/mountinfo").read_text())
    versions = sorted({mount.version for mount in mounts})
    return "version " + " and ".join(map(str, versions)) if versions else "none mounted"


def _version(python: str) -> str:
    try:
        answer = subprocess.run([python, "--version"], capture_output=True, timeout=_ASK_TIMEOUT_S, text=True, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f"cannot start: {error}"
    return answer.stdout.strip()


def _dump_program() -> HostWarning | None:
    """Warn if the kernel pipes core dumps to a program: it runs as root, outside of every box, with memory of the crashed
    program as input."""
    try:
        pattern = _CORE_PATTERN.read_text().strip()
    except OSError:
        return None
    if not pattern.startswith("|"):
        return None
    text = f"a crash in a box makes the kernel run {pattern[1:].split()[0]} on the host"
    return HostWarning(text, "sysctl -w kernel.core_pattern=core")


def _leaky_processor() -> HostWarning | None:
    try:
        states = {path.name: path.read_text() for path in _VULNERABILITIES.iterdir()}
        return processor_warning(states, _COMMAND_LINE.read_text())
    except OSError:
        return None


def processor_warning(states: Mapping[str, str], command_line: str) -> HostWarning | None:
    """Return a warning if the processor is vulnerable.

    states: the kernel's text for each vulnerability.
    command_line: the kernel's command line.
    """
    vulnerable = sorted(name for name, state in states.items() if state.startswith("Vulnerable"))
    if not vulnerable:
        return None
    words = command_line.partition(" -- ")[0].split()
    disabled = [word for word in words if _disables_mitigation(word)]
    remove = f"; remove {' '.join(disabled)} from the kernel's command line" if disabled else ""
    return HostWarning(
        f"the processor has unmitigated vulnerabilities ({', '.join(vulnerable)})", f"update kernel and microcode{remove}"
    )


def _disables_mitigation(word: str) -> bool:
    """Whether a word of the kernel's command line disables a mitigation."""
    name, _, value = word.partition("=")
    return word in _PROTECTION_OFF or (name in _PROTECTIONS and "off" in value.split(","))


def _no_user_namespaces() -> HostWarning | None:
    limit = Path("/proc/sys/user/max_user_namespaces")
    try:
        allowed = int(limit.read_text())
    except (OSError, ValueError):
        return None
    return None if allowed else HostWarning("user namespaces are disabled", "sysctl -w user.max_user_namespaces=15000")
