"""Aider's polyglot benchmark: exercises in six languages, each judged by the test suite of its language's track.

A row: id ("go/forth"), content (the instructions), labels {programming_language, exercise}, and four objects of file names and
texts: solution (the stubs), tests, support (what both may use) and reference. An answer has one fenced block for each file of the
solution; where there are several, the file's name stands in the block's first line or in the line above it, else they come in the
order of the stubs.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from types import MappingProxyType

from sandbox_runtime.benchmarks.aider import tested_module_trial
from sandbox_runtime.benchmarks.programs import program_trial
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, mapping, row_id, text
from sandbox_runtime.benchmarks.sources.go import merge_go_files
from sandbox_runtime.benchmarks.sources.java import blocks_of, type_files
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import EMPTY, ExtractedCode, default_extract, fenced_blocks
from sandbox_runtime.model.job import File
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_COMPILE_S, _RUN_S = 120.0, 60.0
_PROMPT = "{content}\n\nWrite {files} in {language}. Keep the names that these stubs have, and answer with {form}.\n\n{stubs}\n"
_ONE_FILE, _SEVERAL_FILES = (
    "the whole file in one fenced code block",
    "one fenced code block for each file, with its name in the line above",
)
_IGNORED = re.compile(r"(?m)^[ \t]*#\[ignore[^\]\n]*\][ \t]*\n")
_DISABLED = re.compile(r'@Disabled\("[^"]*"\)|@Disabled\b')
_SKIPPED = re.compile(r"\bx(test|it|describe)\b(?=[ \t]*(?:\(|\.))")
_CATCH_HEAD = "#define EXERCISM_RUN_ALL_TESTS\n#define EXERCISM_TEST_SUITE\n#include <catch2/catch.hpp>\n"
_CATCH_PASSED = r"(?m)^All tests passed \(\d+ assertions? in \d+ test cases?\)"
_RUST_PASSED = r"(?m)^test result: ok\. [1-9]\d* passed; 0 failed"
_LIBRARY = "src/lib.rs"
_MODULES = """\
import types as _types
for _name, _text in {modules!r}:
    _sys.modules[_name] = _types.ModuleType(_name)
    exec(compile(_text, _sys._getframe().f_code.co_filename, "exec"), _sys.modules[_name].__dict__)
globals().update((name, value) for name, value in vars(_sys.modules[_name]).items() if name.endswith(("Test", "Tests")))
"""
_BUILD_TAG = re.compile(r"(?m)^//go:build \w+$")

Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Exercise:
    """solution: the files of the answer."""

    name: str
    solution: Texts
    tests: Texts
    support: Texts
    options: Options
    extracted: ExtractedCode


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    stubs = _texts(row, "solution")
    language = text(labels_of(row), "programming_language")
    shown = "\n\n".join(f"{name}\n{fence(stub, language)}" for name, stub in stubs.items())
    form = _ONE_FILE if len(stubs) == 1 else _SEVERAL_FILES
    asked = _PROMPT.format(content=text(row, "content"), files=", ".join(stubs), language=language, form=form, stubs=shown)
    return (Prompt(id=row_id(row), prompt=asked, labels=labels_of(row)),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    labels = labels_of(row)
    language = text(labels, "programming_language")
    make = _TRIALS.get(language)
    if make is None:
        raise InvalidRequest(f"exercises are in {', '.join(_TRIALS)}, not in {language!r}")
    stubs = _texts(row, "solution")
    extracted = default_extract(completion, language)
    solution = assign_blocks(completion, extracted, stubs)
    whole = blocks_of(completion.text) if language == "java" and not completion.custom else "\n\n".join(solution.values())
    extracted = ExtractedCode(whole, extracted.kind) if solution else EMPTY
    exercise = _Exercise(text(labels, "exercise"), solution, _texts(row, "tests"), _texts(row, "support"), options, extracted)
    return dataclasses.replace(make(exercise), test_code="\n\n".join(exercise.tests.values()))


def assign_blocks(completion: Completion, extracted: ExtractedCode, stubs: Texts) -> Texts:
    """Which block is which file."""
    names = list(stubs)
    if len(names) == 1 or completion.custom:
        return {names[0]: extracted.code}
    blocks = fenced_blocks(completion.text)
    named = {name: code for name in names for code in _blocks_under_name(completion.text, name)}
    left = [block.code for block in blocks if block.code not in named.values()]
    return {**dict(zip((name for name in names if name not in named), left, strict=False)), **named}


def _blocks_under_name(written: str, name: str) -> list[str]:
    """The block that has this name above it."""
    named = re.compile(rf"\b{re.escape(PurePosixPath(name).name)}")
    lines = written.split("\n")
    for at, (line, below) in enumerate(pairwise(lines)):
        if below.startswith("```") and line.count("`") <= 2 and named.search(line):
            return [block.code for block in fenced_blocks("\n".join(lines[at + 1 :]))[:1]]
    return []


def _python(exercise: _Exercise) -> Trial:
    """Tests with modules of their own are each kept in a namespace of its own, as they patch names of the solution's."""
    (module, _), *others = exercise.solution.items()
    (name, tests), *more = exercise.tests.items()
    if more:
        tests = _MODULES.format(modules=[(PurePosixPath(each).stem, code) for each, code in [*more, (name, tests)]])
    tested = File(name, tests.encode(errors="surrogatepass"))
    files = _files({**exercise.support, **dict(others)})
    return tested_module_trial(
        exercise.extracted, exercise.options, PurePosixPath(module).stem, tested, files=(*files, tested), run_s=_RUN_S
    )


def _go(exercise: _Exercise) -> Trial:
    support = [code for name, code in exercise.support.items() if name.endswith(".go") and not _BUILD_TAG.search(code)]
    return _program(exercise, "go_test", merge_go_files([*exercise.solution.values(), *support, *exercise.tests.values()]))


def _rust(exercise: _Exercise) -> Trial:
    """The tests import the library by its name: here both are one crate, which goes by that name as well."""
    tests = _IGNORED.sub("", next(iter(exercise.tests.values())))
    library = exercise.solution.get(_LIBRARY, "")
    named = f"extern crate self as {exercise.name.replace('-', '_')};"
    code = f"{library}\n\n{named}\n\n#[cfg(test)]\nmod exercise_tests {{\n{tests}\n}}\n"
    beside = {
        name.removeprefix("src/"): text for name, text in {**exercise.support, **exercise.solution}.items() if name != _LIBRARY
    }
    return _program(exercise, "rust_test", code, _files(beside, ".rs"), must_match=_RUST_PASSED)


def _javascript(exercise: _Exercise) -> Trial:
    tests = _SKIPPED.sub(r"\1", next(iter(exercise.tests.values())))
    return _program(exercise, "jest", tests, _files({**exercise.support, **exercise.solution}))


def _cpp(exercise: _Exercise) -> Trial:
    included = "".join(f'#include "{name}"\n' for name in exercise.solution if name.endswith(".cpp"))
    tests = "\n".join(exercise.tests.values())
    files = _files({**exercise.support, **exercise.solution})
    return _program(exercise, "catch2", f"{_CATCH_HEAD}{included}{tests}", files, must_match=_CATCH_PASSED)


def _java(exercise: _Exercise) -> Trial:
    """An answer may have types beside those that were asked for; each goes into a file of its own."""
    tests = {name: _DISABLED.sub("", code) for name, code in exercise.tests.items()}
    flat = {PurePosixPath(name).name: code for name, code in {**exercise.support, **tests}.items()}
    written = {file.name: file for file in type_files(exercise.extracted.code)}
    files = {**written, **{file.name: file for file in _files(flat, ".java")}}
    trial = _program(exercise, "junit", "", tuple(files.values()))
    return dataclasses.replace(trial, full_code=exercise.extracted.code)


def _program(exercise: _Exercise, language: str, code: str, files: tuple[File, ...] = (), *, must_match: str = "") -> Trial:
    return program_trial(
        exercise.extracted,
        exercise.options,
        language=language,
        code=code,
        compile_s=_COMPILE_S,
        run_s=_RUN_S,
        files=files,
        must_match=must_match,
    )


_TRIALS: Mapping[str, Callable[[_Exercise], Trial]] = MappingProxyType(
    {"python": _python, "go": _go, "rust": _rust, "javascript": _javascript, "cpp": _cpp, "java": _java}
)


def _files(texts: Texts, ending: str = "") -> tuple[File, ...]:
    return tuple(File(name, code.encode(errors="surrogatepass")) for name, code in texts.items() if name.endswith(ending))


def _texts(row: Row, name: str) -> Texts:
    found = mapping(row, name)
    if not all(isinstance(value, str) for value in found.values()):
        raise InvalidRequest(f"the column {name!r} must be an object of file names and texts")
    if not found and name in ("solution", "tests"):
        raise InvalidRequest(f"the column {name!r} has no file")
    return found


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    """Of files that the reference does not have, the stub stays."""
    reference = _texts(row, "reference")
    if not reference:
        return ()
    language = text(labels_of(row), "programming_language")
    files = {**_texts(row, "solution"), **reference}
    named = [f"{name}\n{fence(code, language)}" for name, code in files.items()]
    return (("\n\n".join(named), options),)


AIDER_POLYGLOT = Benchmark(name="AiderPolyglotDataset", prompts=_prompts, trial=_trial, reference=_reference)
