"""Which toolchain it is that a step is taken with, told from outside by a few calls of stat.

A compiler is more than the program that is started: headers, libraries and helpers come from other packages. So beside the
program itself, and every file or folder that the command names, the system's record of installed packages counts: whoever
installs or upgrades anything gets new builds.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from sandbox_runtime.model import Step

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PACKAGE_RECORDS = ("/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite", "/lib/apk/db/installed", "/var/lib/pacman/local")
_STAMP_FOLDER = ".stamps"
"""Where an installation of toolchains leaves a file for each language, newer with each time."""
_PATH_VARIABLE = "PATH"


class ToolchainIdentity:
    """python: the guest's interpreter, whose folder is the first in which boxes look for programs. toolchains: the folder
    of those that were installed for them."""

    def __init__(self, python: str, toolchains: str) -> None:
        self._path = f"{os.path.dirname(python)}:{_SYSTEM_PATH}"
        self._toolchains = toolchains

    def stamps(self, step: Step, language: str, folder: str = "") -> tuple[str, ...]:
        """folder: the language's own among the toolchains. Empty where the program is not to be found: then it is not known
        what would be used."""
        program = self.program(step)
        if program is None:
            return ()
        stamp = os.path.join(self._toolchains, _STAMP_FOLDER, language)
        own = (os.path.join(self._toolchains, folder),) if folder else ()
        paths = (program, *_PACKAGE_RECORDS, stamp, *own, *_paths_in(step))
        return tuple(_stamp(path) for path in dict.fromkeys(paths))

    def program(self, step: Step) -> str | None:
        resolved = shutil.which(step.argv[0], path=dict(step.env).get(_PATH_VARIABLE, self._path))
        return os.path.realpath(resolved) if resolved else None


def _paths_in(step: Step) -> Iterator[str]:
    """Files and folders that stand in the command or its environment, also after an option and in lists."""
    for word in (*step.argv[1:], *(value for name, value in step.env if name != _PATH_VARIABLE)):
        start = word.find("/")
        if start >= 0:
            yield from (part for part in word[start:].split(":") if part.startswith("/"))


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return f"{path} none"
    return f"{path} {status.st_size} {status.st_mtime_ns}"
