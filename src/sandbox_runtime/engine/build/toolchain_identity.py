"""Identify the toolchain of a step from outside, with a few stat calls.

A compiler is more than one program: headers, libraries and helpers come from other packages. So besides the program and every
file or folder that the command names, the system's package database counts: installing or upgrading anything invalidates
builds.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from sandbox_runtime.model.plan import Step

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PACKAGE_RECORDS = ("/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite", "/lib/apk/db/installed", "/var/lib/pacman/local")
_STAMP_FOLDER = ".stamps"
"""Folder with one file per language, touched by each installation of its toolchain."""
_PATH_VARIABLE = "PATH"


class ToolchainIdentity:
    """Identifies toolchains of one host.

    - python: the guest's interpreter; its folder is first in the PATH of boxes.
    - toolchains: folder of installed toolchains.
    """

    def __init__(self, python: str, toolchains: str) -> None:
        self._path = f"{os.path.dirname(python)}:{_SYSTEM_PATH}"
        self._toolchains = toolchains

    def stamps(self, step: Step, language: str, folder: str = "") -> tuple[str, ...]:
        """Return a stamp for each file that the step depends on, or () if the program is not found. `folder` is the language's
        own folder among the toolchains."""
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
    """Yield absolute paths in the command and its environment, also after options and in lists."""
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
