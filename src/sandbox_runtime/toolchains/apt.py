"""System packages, by Debian's package manager: as root, or where sudo asks for no password."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.languages import Language
from sandbox_runtime.toolchains.commands import InstallCommand, run_command

BOX_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where a program must lie so that boxes find it."""
_UPDATE_WITHIN_S, _INSTALL_WITHIN_S, _ASK_WITHIN_S = 300.0, 3600.0, 60.0
_LOCK_WAIT = "DPkg::Lock::Timeout=900"
_INSTALLED = re.compile(r"^([^\s:]+)(?::\S+)? install ok installed$", re.MULTILINE)


def required_packages(language: Language) -> tuple[str, ...]:
    """The packages of a row; none where the programs that they bring are there already."""
    instead = language.install.apt_unless
    if instead and all(shutil.which(program, path=BOX_PATH) for program in instead):
        return ()
    return language.install.apt


def missing_packages(packages: Iterable[str]) -> list[str]:
    """Those that are not installed. `a | b` is there when either is."""
    names = list(dict.fromkeys(packages))
    there = _installed([name for entry in names for name in _alternatives(entry)])
    return [entry for entry in names if not there.intersection(_alternatives(entry))]


def install(packages: Sequence[str]) -> None:
    """All in one transaction. Raises Unavailable where that fails or may not be done."""
    names = [_choose_alternative(entry) for entry in packages]
    options = ("-y", "-qq", "--no-install-recommends", "-o", _LOCK_WAIT, "-o", "Dpkg::Use-Pty=0")
    command = (*_as_root(names), "apt-get", "install", *options, *names)
    run_command(InstallCommand(command, env=(("DEBIAN_FRONTEND", "noninteractive"),)), _INSTALL_WITHIN_S)


def update() -> None:
    run_command(InstallCommand((*_as_root(()), "apt-get", "update", "-qq", "-o", _LOCK_WAIT)), _UPDATE_WITHIN_S)


def _as_root(names: Sequence[str]) -> tuple[str, ...]:
    advice = f"; as root:  apt-get install -y --no-install-recommends {' '.join(names)}" if names else ""
    if shutil.which("apt-get") is None:
        raise Unavailable(
            "there is no apt-get on this machine; install with its package manager what Debian calls: " + " ".join(names)
        )
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is None or _fails("sudo", "-n", "true"):
        raise Unavailable(f"system packages need root, and sudo asks for a password{advice}")
    return ("sudo", "-n", "-E")


def _choose_alternative(entry: str) -> str:
    """The first of the alternatives that the package lists know; the last one where they know none, for apt to complain of."""
    known = (name for name in _alternatives(entry) if not _fails("apt-cache", "show", "--no-all-versions", name))
    return next(known, _alternatives(entry)[-1])


def _alternatives(entry: str) -> list[str]:
    return [name.strip() for name in entry.split("|")]


def _installed(names: Sequence[str]) -> set[str]:
    if not names or shutil.which("dpkg-query") is None:
        return set()
    answer = _query("dpkg-query", "-W", "-f", "${binary:Package} ${Status}\\n", *names)
    return set(_INSTALLED.findall(answer.stdout))


def _fails(*argv: str) -> bool:
    return _query(*argv).returncode != 0


def _query(*argv: str) -> subprocess.CompletedProcess[str]:
    """Failing is an answer too."""
    try:
        return subprocess.run(argv, capture_output=True, text=True, timeout=_ASK_WITHIN_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return subprocess.CompletedProcess(argv, 1, "", "")
