"""HumanEval-X: the functions of HumanEval in six languages, with tests written by hand.

A row as published: task_id ("CPP/0"), prompt (declaration and description), declaration, canonical_solution (the body), test,
example_test; Go rows also have import and test_setup. The language is that of the task's id, or of the dataset's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sandbox_runtime.benchmarks.programs import program_trial
from sandbox_runtime.benchmarks.prompts import completion_prompt, fence
from sandbox_runtime.benchmarks.row_columns import optional_text, row_id, text
from sandbox_runtime.benchmarks.sources.go import merge_go_files
from sandbox_runtime.benchmarks.trials import extract_freeform, flag, python_trial
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode, before_first_unindented_line, fenced_blocks
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_COMPILE_S, _RUN_S = 60.0, 30.0

_PYTHON_HEAD = """\
import math
import re
import sys
import copy
import datetime
import itertools
import collections
import heapq
import statistics
import functools
import hashlib
import numpy
import numpy as np
import string
from typing import *
from collections import *
"""
_CPP_HEADERS = """
stdlib.h algorithm math.h stdio.h vector string climits cstring iostream cassert map set queue stack deque unordered_map
unordered_set numeric functional sstream cmath
"""
_CPP_HEAD = "".join(f"#include <{name}>\n" for name in _CPP_HEADERS.split())
_JAVA_HEAD = "import java.util.*;\nimport java.lang.*;\n"
_SIGNATURE = re.compile(r"(?m)^.*\{[ \t]*$|^[ \t]*def [^\n]*:[ \t]*$")
_CALL = re.compile(r"\b(\w+)[ \t]*(?:=[ \t]*)?(?:<[^>\n]{0,200}>)?\(")
_DEFINITION = re.compile(r"(?m)^def (\w+)")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_KEYWORDS = frozenset(("if", "for", "while", "switch", "catch", "match", "else", "function", "return"))
_IMPORT_LINE = re.compile(r"(?m)^(?:#include|using|import|from|use|const \w+ = require)\b[^\n]*\n|^import \([^)]*\)\n")


@dataclass(frozen=True, slots=True)
class _Parts:
    row: Row
    code: str
    """The whole function: where the answer was its body alone, with the declaration in front."""
    options: Options
    extracted: ExtractedCode


def _python(parts: _Parts) -> Trial:
    solution = f"{_PYTHON_HEAD}\n{parts.code}"
    return python_trial(
        parts.extracted,
        parts.options,
        solution=solution,
        tests=text(parts.row, "test"),
        run_s=_RUN_S,
        preamble=f"{_PYTHON_HEAD}\n{text(parts.row, 'prompt')}",
        entry=_last_function(text(parts.row, "prompt")),
    )


def _last_function(prompt: str) -> str:
    """The name of the function that a prompt in Python ends with."""
    found = _DEFINITION.findall(prompt)
    return found[-1] if found else ""


def _cpp(parts: _Parts) -> Trial:
    return _program(parts, "cpp", f"{_CPP_HEAD}\n{parts.code}\n{text(parts.row, 'test')}")


def _java(parts: _Parts) -> Trial:
    return _program(parts, "java", f"{parts.code}\n{text(parts.row, 'test')}")


def _javascript(parts: _Parts) -> Trial:
    """Its tests tell of a failure on the console and nowhere else: whatever is printed counts against the answer."""
    return _program(parts, "nodejs", f"{parts.code}\n{text(parts.row, 'test')}", must_not_match=r"(?s).")


def _go(parts: _Parts) -> Trial:
    pieces = (text(parts.row, "test_setup"), parts.code, text(parts.row, "test"))
    return _program(parts, "go_test", merge_go_files(pieces, add_standard=True, drop_unused=True))


def _rust(parts: _Parts) -> Trial:
    """A row whose test its authors left commented out asks only that the answer compiles."""
    test = text(parts.row, "test")
    if "#[test]" not in _COMMENT.sub("", test):
        test += "\n#[test]\nfn compiles() {}\n"
    whole = f"#![allow(warnings)]\nfn main() {{}}\n{parts.code}\n{test}"
    return _program(parts, "rust_test", whole, must_match=r"(?m)^test result: ok\. [1-9]\d* passed; 0 failed")


def _program(parts: _Parts, language: str, code: str, *, must_match: str = "", must_not_match: str = "") -> Trial:
    return program_trial(
        parts.extracted,
        parts.options,
        language=language,
        code=code,
        tests=text(parts.row, "test"),
        compile_s=_COMPILE_S,
        run_s=_RUN_S,
        must_match=must_match,
        must_not_match=must_not_match,
    )


_TRIALS: Mapping[str, Callable[[_Parts], Trial]] = MappingProxyType(
    {"python": _python, "cpp": _cpp, "java": _java, "javascript": _javascript, "go": _go, "rust": _rust}
)
_SPELLINGS: Mapping[str, str] = MappingProxyType({"js": "javascript", "c++": "cpp", "rs": "rust", "golang": "go"})


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    language = row_language(row, options)
    prompt = completion_prompt(text(row, "prompt"), language, options)
    labels = {name: value for name, value in row.items() if name not in ("prompt", "canonical_solution", "test")}
    return (Prompt(id=row_id(row), prompt=prompt, labels=labels),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    language = row_language(row, options)
    extracted = _extract(completion, language, options)
    return _TRIALS[language](_Parts(row, _whole_function(row, extracted, language), options, extracted))


def row_language(row: Row, options: Options) -> str:
    """As the task's id says ("CPP/0"), else the dataset's ("humaneval_x_cpp")."""
    told = optional_text(row, "task_id") or ""
    for name in (told.partition("/")[0], options.dataset.rpartition("_")[2], options.language or ""):
        name = _SPELLINGS.get(name.lower(), name.lower())
        if name in _TRIALS:
            return name
    raise InvalidRequest(f"the row says no language: its task_id {told!r} begins with none of {', '.join(_TRIALS)}")


def _extract(completion: Completion, language: str, options: Options) -> ExtractedCode:
    if completion.custom or fenced_blocks(completion.text) or flag(options, "is_freeform"):
        return extract_freeform(completion, language)
    written = before_first_unindented_line(completion.text) if language == "python" else completion.text
    return ExtractedCode(written, "heuristic" if written.strip() else "empty")


def _whole_function(row: Row, extracted: ExtractedCode, language: str) -> str:
    """The body goes on where the prompt ends; a block with the whole function needs what the prompt has in front of it."""
    asked = _prompt_code(row, language)
    heads = list(_SIGNATURE.finditer(asked))
    name = _declared_name(heads[-1][0]) if heads else ""
    if extracted.kind == "heuristic" or not re.search(rf"\b{re.escape(name)}\b", extracted.code):
        return f"{asked}{extracted.code}"
    if language == "java":
        return _JAVA_HEAD + extracted.code.replace("public class Solution", "class Solution")
    head = asked[: heads[-1].start()]
    return f"{_as_glob_import(head) if language == 'rust' else _needed_head(head, extracted.code)}\n{extracted.code}"


def _prompt_code(row: Row, language: str) -> str:
    """Rust has its description behind the declaration, and in the prompt alone."""
    return f"{text(row, 'declaration')}{text(row, 'prompt')}" if language == "rust" else text(row, "prompt")


def _needed_head(head: str, code: str) -> str:
    """Functions that the prompt gives are not defined twice, where the answer repeats them."""
    given = {_declared_name(found[0]) for found in _SIGNATURE.finditer(head)} - {""}
    again = {_declared_name(found[0]) for found in _SIGNATURE.finditer(code)}
    return "".join(_IMPORT_LINE.findall(head)) if given & again else head


def _as_glob_import(head: str) -> str:
    """Rust refuses to import a name twice, unless it comes from a module of which all names are imported."""
    lines = "".join(f"    pub {line.strip()}\n" for line in head.split("\n") if line.startswith("use "))
    return f"mod asked_with {{\n{lines}}}\nuse asked_with::*;\n"


def _declared_name(signature: str) -> str:
    """The name that a line declares as a function; empty where it declares none."""
    found = _CALL.search(signature)
    return found[1] if found and found[1] not in _KEYWORDS else ""


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    body = optional_text(row, "canonical_solution")
    if not body:
        return ()
    language = row_language(row, options)
    return ((body, options), (fence(f"{_prompt_code(row, language)}{body}", language), options))


HUMANEVAL_X = Benchmark(name="HumanEvalXDataset", prompts=_prompts, trial=_trial, reference=_reference)
