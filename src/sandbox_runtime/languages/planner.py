"""(language, job, toolchain) → plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.language import PLACEHOLDER, Language, Recipe
from sandbox_runtime.languages.transforms import PreparedSource, Refusal, transform_of
from sandbox_runtime.model import File, Job, Plan, Step


@dataclass(frozen=True, slots=True)
class Toolchain:
    """What the placeholders stand for on this host and in this box; linked are the flags that were found to link."""

    python: str
    workdir: str
    preset: str = "std"
    linked: tuple[str, ...] = ()
    toolchains: str = ""


def plan(language: Language, job: Job, tools: Toolchain) -> Plan:
    """Assets first, then the job's own files, the program last: where two have a name, the later is what counts."""
    made = transform_of(language)(language, job)
    refusal = made.text if isinstance(made, Refusal) else ""
    program = PreparedSource(language.source, job.code) if isinstance(made, Refusal) else made
    values = _values(language, job, program, tools)
    written = (File(program.source, _encode_code(program.code)),) if program.source else ()
    return Plan(
        files=(*language.assets, *job.files, *program.files, *written),
        compile=_step(language.compile, values, tools.linked) if language.compile else None,
        run=_step(language.run, values, ()),
        preset=tools.preset if language.warm else "std",
        links=_links(language, job, values) if language.links else (),
        refusal=refusal,
    )


def prestart_step(language: Language, tools: Toolchain, path: str) -> Step:
    """How the program that stands in for a caller's is started; path: where it lies."""
    values = {"source": path, "python": tools.python, "workdir": tools.workdir, "toolchains": tools.toolchains}
    return _step(language.run, values, ())


def version_step(language: Language, tools: Toolchain) -> Step:
    """How to ask the toolchain for its version."""
    values = {"python": tools.python, "workdir": tools.workdir, "toolchains": tools.toolchains}
    return Step(tuple(fill_placeholders(word, values) for word in language.version))


def fill_placeholders(word: str, values: dict[str, str]) -> str:
    return PLACEHOLDER.sub(lambda found: values[found[1]], word) if "{" in word else word


def _values(language: Language, job: Job, program: PreparedSource, tools: Toolchain) -> dict[str, str]:
    return {
        "source": program.source,
        "stem": program.source.rpartition(".")[0] or program.source,
        "main": program.main,
        "binary": language.binary,
        "jars": _jars(job) if job.files else "",
        "python": tools.python,
        "toolchains": tools.toolchains,
        "workdir": tools.workdir,
    }


def _step(recipe: Recipe, values: dict[str, str], linked: tuple[str, ...]) -> Step:
    argv = tuple(fill_placeholders(word, values) for word in recipe.argv)
    return Step(argv + linked, tuple((name, fill_placeholders(value, values)) for name, value in recipe.env))


def _links(language: Language, job: Job, values: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Without those whose name a file of the caller needs for itself or for its folder."""
    taken = {PurePosixPath(file.name.removeprefix(f"{values['workdir']}/")).parts[0] for file in job.files}
    return tuple((name, fill_placeholders(target, values)) for name, target in language.links if name not in taken)


def _jars(job: Job) -> str:
    """As the end of a class path. A colon would end the name early, so such a file is left out."""
    return "".join(f":{file.name}" for file in job.files if file.name.endswith(".jar") and ":" not in file.name)


def _encode_code(code: str) -> bytes:
    """Undecodable bytes of a source file travel as surrogate escapes and come out as they were."""
    try:
        return code.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidRequest(
            f"the code holds a character that is no text at position {error.start}; send valid Unicode"
        ) from error
