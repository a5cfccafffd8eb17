"""Transforms: a closed set of named, pure functions that some languages apply to the code before it becomes a file.

A transform takes the language and the job. It returns the PreparedSource to write, or a Refusal if the toolchain cannot even be
started with this code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType

from sandbox_runtime.languages.language import Language
from sandbox_runtime.model import File, Job

# What is opened and never closed goes to the end: looking for its end again and again would take quadratic time.
_COMMENTS_AND_STRINGS = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"\"\".*?(?:\"\"\"|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])'", re.DOTALL
)
_PUBLIC_TYPE = re.compile(
    r"\bpublic\s+(?:(?:abstract|final|sealed|strictfp)\s+)*(?:class|interface|enum|record)\s+([A-Za-z_$][\w$]*)"
)
_SCALA_OBJECT = re.compile(r"\bobject\s+([A-Za-z_$][\w$]*)")
SOURCES = ".sources"
_PHP_OPENS = "<?php"


@dataclass(frozen=True, slots=True)
class PreparedSource:
    """The file to write and its text; main is the name the toolchain is told; files are further ones. source empty: no file is
    written for the code."""

    source: str
    code: str
    main: str = ""
    files: tuple[File, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    text: str


Transform = Callable[[Language, Job], PreparedSource | Refusal]


def unchanged(language: Language, job: Job) -> PreparedSource:
    """A caller may bring a main.py of their own, to be imported by the program: neither must overwrite the other."""
    return PreparedSource(_free_name(language.source, job) if job.files else language.source, job.code)


def fixed_name(language: Language, job: Job) -> PreparedSource:
    """For toolchains to which the file's name means something: the program replaces a file of the caller that has it."""
    return PreparedSource(language.source, job.code, PurePosixPath(language.source).stem)


def php_tag(language: Language, job: Job) -> PreparedSource:
    """PHP prints whatever stands outside of its tags: code that comes without the first one gets it."""
    plain = unchanged(language, job)
    code = job.code.lstrip()
    return PreparedSource(plain.source, code if code.startswith(_PHP_OPENS) else f"{_PHP_OPENS}\n{code}")


def java_public_class(language: Language, job: Job) -> PreparedSource:
    """Java wants a public class in a file of its name. Without code there are only the caller's own files. The names of all
    sources in the workspace's top folder stand in a file that javac can be given."""
    if not job.code.strip():
        return PreparedSource("", "", files=(_sources(job, ""),))
    found = _PUBLIC_TYPE.search(_blank_comments(job.code))
    main = found[1] if found else PurePosixPath(language.source).stem
    source = f"{main}{PurePosixPath(language.source).suffix}"
    return PreparedSource(source, job.code, main, (_sources(job, source),))


def scala_object(language: Language, job: Job) -> PreparedSource | Refusal:
    """The first object is the program."""
    found = _SCALA_OBJECT.search(_blank_comments(job.code))
    if found is None:
        return Refusal("Object name not found.")
    plain = unchanged(language, job)
    return PreparedSource(plain.source, plain.code, found[1])


def no_source(language: Language, job: Job) -> PreparedSource:
    """The program is a project in the caller's files; the code is not looked at."""
    return PreparedSource("", "")


TRANSFORMS: Mapping[str, Transform] = MappingProxyType(
    {transform.__name__: transform for transform in (fixed_name, php_tag, java_public_class, scala_object, no_source)}
)


def transform_of(language: Language) -> Transform:
    return TRANSFORMS[language.transform] if language.transform else unchanged


def _sources(job: Job, source: str) -> File:
    """In the form of javac's argument files: one quoted name a line."""
    brought = (str(PurePosixPath(file.name)) for file in job.files)
    names = dict.fromkeys(name for name in (*brought, source) if name.endswith(".java") and "/" not in name and "\n" not in name)
    quoted = (name.replace("\\", "\\\\").replace('"', '\\"') for name in names)
    return File(SOURCES, "".join(f'"./{name}"\n' for name in quoted).encode(errors="surrogateescape"))


def _free_name(source: str, job: Job) -> str:
    taken = {str(PurePosixPath(file.name)) for file in job.files}
    name, number, path = source, 0, PurePosixPath(source)
    while name in taken:
        number += 1
        name = f"{path.stem}_{number}{path.suffix}"
    return name


def _blank_comments(code: str) -> str:
    """Without comments and texts, in which anything may stand."""
    return _COMMENTS_AND_STRINGS.sub(" ", code)
