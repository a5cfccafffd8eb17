"""One language as its TOML file declares it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandbox_runtime.model import File

PLACEHOLDERS = ("source", "stem", "main", "binary", "jars", "python", "toolchains", "workdir")
"""Names that a word of a language file may contain in braces. source, stem (source without its extension), main (the name a
transform found) and jars (the caller's *.jar files, each preceded by a colon) belong to a job; the others to host and box."""
PLACEHOLDER = re.compile(r"\{([a-z]+)\}")
TOOLCHAINS = "{toolchains}"
JOB_PLACEHOLDERS = ("source", "stem", "main", "binary", "jars")
GROUPS = ("major", "minor", "gpu", "more")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one step is started. linked holds flags of which those are added that link on this host; min_limits raises limits that
    are too small for the toolchain itself, and never lowers one; together bounds how many of this step run at once on the whole
    server (0: no bound of its own); cache_build says that what this step makes may be kept and given to the next same job."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    optional_link_flags: tuple[str, ...] = ()
    min_limits: tuple[tuple[str, int], ...] = ()
    max_concurrent: int = 0
    cache_build: bool = False


@dataclass(frozen=True, slots=True)
class CheckProgram:
    """A program that echoes its input: the language is enabled when it does so on this host. files are those it comes with,
    for a language whose programs are projects. contains: stdout need only be part of what is printed, for test runners that
    print more, such as how long they took."""

    code: str
    stdin: str
    stdout: str
    files: tuple[File, ...] = ()
    contains: bool = False


@dataclass(frozen=True, slots=True)
class Install:
    """Where the toolchain comes from. on names languages whose toolchains this one stands on; apt_unless names programs that make
    the system packages superfluous where all of them are there; folder is its place below the folder of toolchains, which several
    languages may share; made_with names programs without which what stands is of no use: where one of them was replaced, it is
    made again; megabytes is for orientation; unavailable says why there is no route at all."""

    on: tuple[str, ...] = ()
    apt: tuple[str, ...] = ()
    apt_unless: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    maven: tuple[str, ...] = ()
    go: tuple[str, ...] = ()
    after: tuple[tuple[str, ...], ...] = ()
    made_with: tuple[str, ...] = ()
    folder: str = ""
    megabytes: int = 0
    unavailable: str = ""


@dataclass(frozen=True, slots=True)
class Language:
    name: str
    title: str
    source: str
    run: Recipe
    check: CheckProgram
    version: tuple[str, ...]
    needs: str
    compile: Recipe | None = None
    binary: str = ""
    aliases: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    group: str = "more"
    warm: bool = False
    """Runs in an interpreter that is already started, with the operator's preset of modules."""
    install: Install = Install()
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links put into the workspace: name → target."""
    assets: tuple[File, ...] = ()
    """Small files of ours that lie in the workspace before the caller's own, which may replace them."""
    transform: str = ""
    """One of languages.transforms, where the code does not simply go into a file named source."""
    toolchain: bool = False
    """Whether its boxes must see the folder of toolchains."""
    prestart: File | None = None
    """A program that can be started in place of the caller's before that has come: it says that it is ready by a byte on
    descriptor 3, waits there for one line, which is the program's name as JSON, confirms it by a byte, closes the descriptor and
    becomes that program."""
    origin: str = ""

    @property
    def gpu(self) -> bool:
        """Whether its boxes must have the machine's GPUs."""
        return self.group == "gpu"
