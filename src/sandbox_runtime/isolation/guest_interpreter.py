"""The guest's Python interpreter: its paths, and what boxes need to see for it to work."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sandbox_runtime.errors import Unavailable

WORKDIR = "/workspace"
HOME = "/home/sandbox"
WRITABLE: Mapping[str, str] = {
    WORKDIR: "workspace",
    HOME: "home",
    "/tmp": "tmp",
    "/var/tmp": "var-tmp",
    "/mnt": "mnt",
    "/run": "run",
    "/dev/shm": "shm",
}
"""Folders of a box that programs may write to, and the name of each in the writable area."""

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_INSPECT_SCRIPT = """
import json, os, site, sys, sysconfig
prefixes = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
library = os.path.join(sysconfig.get_config_var("LIBDIR") or "", sysconfig.get_config_var("INSTSONAME") or "")
files = [sys.executable, os.path.realpath(sys.executable), library, os.path.dirname(os.__file__), os.__file__]
files += [sysconfig.get_path("platstdlib"), os.path.join(sys.prefix, "pyvenv.cfg"), *site.getsitepackages()]
print(json.dumps([sys.executable, sys.version_info[:2], prefixes, files]))
"""


@dataclass(frozen=True, slots=True)
class GuestInterpreter:
    python: str
    version: tuple[int, int]
    prefixes: tuple[str, ...]
    home: tuple[tuple[str, str], ...] = ()
    """Links that every home folder starts with, as (name, target), made from share/sandbox-home of the interpreter. They point
    to caches that each box would otherwise rebuild, such as matplotlib's font list."""
    files: tuple[str, ...] = ()
    """Files and folders that change when the interpreter or its packages are upgraded."""

    @property
    def base_env(self) -> dict[str, str]:
        """The environment of every command, before variables of the caller are added."""
        return {
            "PATH": f"{os.path.dirname(self.python)}:{_SYSTEM_PATH}",
            "HOME": HOME,
            "LANG": "C.UTF-8",
            "TMPDIR": "/tmp",
        }


def inspect_interpreter(python: str) -> GuestInterpreter:
    """Run the interpreter to find its paths and version. Raises Unavailable if it cannot be used."""
    try:
        answer = subprocess.run(
            [python, "-c", _INSPECT_SCRIPT], env={"PATH": _SYSTEM_PATH}, capture_output=True, timeout=30, check=True, cwd="/"
        )
        executable, version, prefixes, files = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise Unavailable(f"the guest interpreter {python} cannot be used: {error}; set guest_python to a working one") from error
    if tuple(version) < (3, 10):
        raise Unavailable(f"the guest interpreter {python} is Python {version[0]}.{version[1]}; at least 3.10 is needed")
    home = tuple(_home_links(prefixes[0]))
    return GuestInterpreter(
        executable, (version[0], version[1]), tuple(dict.fromkeys(prefixes)), home, tuple(dict.fromkeys(files))
    )


def _home_links(prefix: str) -> Iterator[tuple[str, str]]:
    shown = os.path.join(prefix, "share", "sandbox-home")
    for folder, _, names in sorted(os.walk(shown)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, shown), path
