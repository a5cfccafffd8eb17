"""From rows to toolchains on disk.

System packages come first, for all languages in one transaction: the package manager's own overhead is paid once. Where that
fails, each language is tried by itself, so that one name this machine does not know costs no other language. Then, language by
language, the other clients and the row's own commands fill its folder. One installation at a time holds the folder's lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.languages import Language
from sandbox_runtime.toolchains import apt, stamps
from sandbox_runtime.toolchains.clients import install_commands
from sandbox_runtime.toolchains.commands import run_command

TASK_WITHIN_S = 1800.0
LOCK_WITHIN_S = 3600.0
_LOCK_POLL_S = 0.5

Progress = Callable[[str], None]
"""Given a line of progress."""


class ToolchainState(StrEnum):
    installed = "installed"
    present = "present"
    failed = "failed"
    unavailable = "unavailable"


_FAILED_STATES = (ToolchainState.failed, ToolchainState.unavailable)


@dataclass(frozen=True, slots=True)
class InstallReport:
    language: str
    state: ToolchainState
    reason: str = ""
    wall_s: float = 0.0


class Installer:
    """root: the folder of toolchains; python: the guest's interpreter; assets: where the files of a row lie. Languages must be
    given after those they stand on."""

    def __init__(self, root: Path, python: str, assets: Callable[[Language], str], tell: Progress) -> None:
        self._root = root
        self._python = python
        self._assets = assets
        self._progress = tell

    def install(self, languages: Sequence[Language], *, reinstall: bool = False) -> list[InstallReport]:
        """again: also what stands already."""
        with self._lock():
            possible = [language for language in languages if not language.install.unavailable]
            failures = self._system_packages(possible)
            reports: dict[str, InstallReport] = {}
            for language in languages:
                reason = failures.get(language.name) or _failed_base(language, reports)
                reports[language.name] = self._report(language, reason, reinstall)
            return list(reports.values())

    def _system_packages(self, languages: Sequence[Language]) -> dict[str, str]:
        """Which languages lack theirs in the end, and why."""
        wanting = {language.name: apt.missing_packages(apt.required_packages(language)) for language in languages}
        packages = list(dict.fromkeys(name for names in wanting.values() for name in names))
        if not packages:
            return {}
        self._progress(f"system packages for {', '.join(name for name in wanting if wanting[name])}: {' '.join(packages)}")
        try:
            self._update()
            apt.install(packages)
        except Unavailable as error:
            self._progress(f"not all at once ({error}); trying language by language")
            return {name: reason for name, names in wanting.items() if (reason := self._install_separately(names))}
        return {}

    def _update(self) -> None:
        """Old package lists may do; the installation tells."""
        try:
            apt.update()
        except Unavailable as error:
            self._progress(f"package lists: {error}")

    def _install_separately(self, packages: Sequence[str]) -> str:
        try:
            if left := apt.missing_packages(packages):
                apt.install(left)
        except Unavailable as error:
            return str(error)
        return ""

    def _report(self, language: Language, failure: str, reinstall: bool) -> InstallReport:
        if language.install.unavailable:
            return InstallReport(language.name, ToolchainState.unavailable, language.install.unavailable)
        if failure:
            return InstallReport(language.name, ToolchainState.failed, failure)
        if stamps.is_installed(self._root, language, self._assets(language)) and not reinstall:
            return InstallReport(language.name, ToolchainState.present)
        began = time.monotonic()
        try:
            self._run_install_commands(language)
        except Unavailable as error:
            self._progress(f"{language.name}: {error}")
            return InstallReport(language.name, ToolchainState.failed, str(error), time.monotonic() - began)
        wall_s = time.monotonic() - began
        self._progress(f"{language.name}: installed in {wall_s:.0f} s")
        return InstallReport(language.name, ToolchainState.installed, "", wall_s)

    def _run_install_commands(self, language: Language) -> None:
        stamps.remove_stamp(self._root, language)
        folder = self._root / language.install.folder
        folder.mkdir(parents=True, exist_ok=True)
        for task in install_commands(language, self._root, self._python, self._assets(language)):
            self._progress(f"{language.name}: {task.about}")
            run_command(task, TASK_WITHIN_S)
        stamps.write_stamp(self._root, language, self._assets(language))

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Boxes run as users of their own and must be able to read what is made here, whatever the operator's umask."""
        mask = os.umask(0o022)
        try:
            self._root.mkdir(parents=True, exist_ok=True)
            with open(self._root / ".lock", "w") as file:
                self._wait_for(file.fileno())
                yield
        except PermissionError as error:
            raise InvalidRequest(
                f"cannot write to toolchains_dir {self._root}: {error.strerror}; set it to a folder of yours"
            ) from error
        finally:
            os.umask(mask)

    def _wait_for(self, descriptor: int) -> None:
        deadline = time.monotonic() + LOCK_WITHIN_S
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Unavailable(f"another installation has held {self._root} for {LOCK_WITHIN_S:g} s") from None
                time.sleep(_LOCK_POLL_S)


def _failed_base(language: Language, reports: Mapping[str, InstallReport]) -> str:
    """Which toolchain that this one stands on could not be had, if any."""
    states = {name: reports[name].state for name in language.install.on if name in reports}
    return next((f"it stands on {name}, which is {state}" for name, state in states.items() if state in _FAILED_STATES), "")
