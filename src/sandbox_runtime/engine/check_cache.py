"""Passed language checks, stored beside the toolchains, so that a server does not run fifty checks at every start.

An entry is valid only while everything the check depends on is unchanged: the language's row, its programs, the system's
packages, the interpreter, the kernel and the backend. All of these are part of the key. Failed checks are not stored; they run
again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from sandbox_runtime.engine.build.toolchain_identity import ToolchainIdentity
from sandbox_runtime.engine.language_check import LanguageStatus
from sandbox_runtime.languages.language import Language
from sandbox_runtime.languages.planner import Toolchain, plan, version_step
from sandbox_runtime.model.job import Job
from sandbox_runtime.model.plan import Step

_FOLDER = ".proofs"
_PLACEHOLDER_WORKDIR = "/"
"""Placeholder for the workspace path, which is not part of the key."""


class CheckCache:
    """Cache for one host.

    - folder: the toolchains folder.
    - host: other things a check depends on, such as the backend and our version.
    """

    def __init__(self, folder: str, python: str, host: str) -> None:
        self._folder = Path(folder) / _FOLDER
        self._identity = ToolchainIdentity(python, folder)
        self._tools = Toolchain(python, _PLACEHOLDER_WORKDIR, toolchains=folder)
        self._host = host

    def load(self, language: Language) -> LanguageStatus | None:
        try:
            entry = json.loads(self._path(language).read_text(encoding="utf-8"))
            if entry["key"] != self._key(language):
                return None
            link_flags, version = tuple(str(flag) for flag in entry["linked"]), str(entry["version"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return LanguageStatus(language.name, True, link_flags, version=version, checked_at=time.monotonic())

    def save(self, language: Language, status: LanguageStatus) -> None:
        """Store a passed check. If the folder is not writable, the check runs again after the next start."""
        entry = {"key": self._key(language), "linked": status.link_flags, "version": status.version}
        path = self._path(language)
        partial = path.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            partial.write_text(json.dumps(entry), encoding="utf-8")
            partial.replace(path)

    def remove(self, language: Language) -> None:
        with contextlib.suppress(OSError):
            self._path(language).unlink(missing_ok=True)

    def _path(self, language: Language) -> Path:
        return self._folder / f"{language.name}.json"

    def _key(self, language: Language) -> str:
        install = language.install
        programs = [self._identity.stamps(step, language.name, install.folder) for step in self._steps(language)]
        inputs = json.dumps([repr(language), programs, self._host, os.uname().release, self._tools.python])
        return hashlib.sha256(inputs.encode()).hexdigest()

    def _steps(self, language: Language) -> Iterator[Step]:
        check = language.check
        made = plan(language, Job(language.name, check.code, files=check.files), self._tools)
        yield from (step for step in (made.compile, made.run, version_step(language, self._tools)) if step is not None)
