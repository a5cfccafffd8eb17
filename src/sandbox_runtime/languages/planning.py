"""(language, job, toolchain) → plan."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.language import Language, Recipe
from sandbox_runtime.model import File, Job, Plan, Step

_PLACEHOLDER = re.compile(r"\{([a-z]+)\}")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What the placeholders stand for on this host and in this box; linked are the flags that were found to link."""

    python: str
    workdir: str
    preset: str = "std"
    linked: tuple[str, ...] = ()


def plan(language: Language, job: Job, tools: Toolchain) -> Plan:
    """The job's own files first, the program last: where both have a name, the program is what runs."""
    source = _free_name(language.source, job) if job.files else language.source
    values = {"source": source, "binary": language.binary, "python": tools.python, "workdir": tools.workdir}
    return Plan(
        files=(*job.files, File(source, _encoded(job.code))),
        compile=_step(language.compile, values, tools.linked) if language.compile else None,
        run=_step(language.run, values, ()),
        preset=tools.preset if language.warm else "std",
    )


def version_step(language: Language, tools: Toolchain) -> Step:
    """How to ask the toolchain for its version."""
    return Step(tuple(_filled(word, {"python": tools.python, "workdir": tools.workdir}) for word in language.version))


def _step(recipe: Recipe, values: dict[str, str], linked: tuple[str, ...]) -> Step:
    argv = tuple(_filled(word, values) for word in recipe.argv)
    return Step(argv + linked, tuple((name, _filled(value, values)) for name, value in recipe.env))


def _filled(word: str, values: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found[1]], word) if "{" in word else word


def _free_name(source: str, job: Job) -> str:
    """A caller may bring a main.py of their own, to be imported by the program: neither must overwrite the other."""
    taken = {str(PurePosixPath(file.name)) for file in job.files}
    name, number, path = source, 0, PurePosixPath(source)
    while name in taken:
        number += 1
        name = f"{path.stem}_{number}{path.suffix}"
    return name


def _encoded(code: str) -> bytes:
    """Undecodable bytes of a source file travel as surrogate escapes and come out as they were."""
    try:
        return code.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidRequest(
            f"the code holds a character that is no text at position {error.start}; send valid Unicode"
        ) from error
