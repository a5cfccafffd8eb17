"""LiveCodeBench: contest problems in Python, some as programs that read and write, some as a function to be called.

A row: id, content, labels, test: {"input_output": {"inputs", "outputs", "fn_name"}} as JSON or packed (base64 of zlib of a
pickle); or as published: question_content, starter_code, public_test_cases, private_test_cases, metadata {func_name}. Both kinds
are judged outside the box: a function's arguments come in by standard input, and what it gives leaves as JSON. So no expected
value is ever near the solution, and one that ends the process early has merely given no answer.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, mapping, optional_json, optional_text, row_id, text
from sandbox_runtime.benchmarks.trials import flag, limits, move_future_imports, value_program
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import default_extract
from sandbox_runtime.judge.rows.safe_unpickle import unpack_tests
from sandbox_runtime.model.job import Job
from sandbox_runtime.model.judge import Benchmark, Case, Check, Completion, Options, Prompt, Row, Trial

_CASE_S = 6.0
_HEADER = """\
import sys
from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from json import *
from typing import *
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools, functools, operator, io, json
import builtins
from builtins import *
sys.setrecursionlimit(50000)
"""
_CALL_FUNCTION = """

def _told_call(name):
    import json, sys
    arguments = [json.loads(line) for line in sys.stdin.read().split("\\n") if line.strip()]
    holder = globals()["Solution"]() if "Solution" in globals() else None
    given = (getattr(holder, name) if hasattr(holder, name) else globals()[name])(*arguments)
    return json.dumps(given, default=lambda value: value.tolist())
"""
_LAYOUT = """\
### Question:
{question}

### Format: {format}
```python
{code}
```

### Answer: (use the provided format with backticks)

"""
_STARTER_CODE_FORMAT = "Write the solution with this starter code and put your code between the delimiters."
_STDIN_FORMAT = (
    "Read the input from stdin, solve the problem and write the answer to stdout. Put your code between the delimiters."
)


@dataclass(frozen=True, slots=True)
class _Tests:
    function: str | None
    pairs: tuple[tuple[str, str], ...]


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    content = optional_text(row, "content") or _format_question(row)
    if options.is_fewshot:
        content = f"{_EXAMPLE}\n\n{content}"
    return (Prompt(id=row_id(row), prompt=content, labels=labels_of(row)),)


_EXAMPLE = _LAYOUT.format(
    question="One line has two whole numbers. Print their sum.", format=_STDIN_FORMAT, code="# YOUR CODE HERE"
) + fence("first, second = map(int, input().split())\nprint(first + second)", "python")


def _format_question(row: Row) -> str:
    starter = optional_text(row, "starter_code") or ""
    wish, code = (_STARTER_CODE_FORMAT, starter.rstrip()) if starter.strip() else (_STDIN_FORMAT, "# YOUR CODE HERE")
    return _LAYOUT.format(question=text(row, "question_content"), format=wish, code=code)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    extracted = default_extract(completion, "python")
    tests = _tests(row)
    whole = _program(extracted.code, tests.function)
    return Trial(
        job=Job(language="python", code=whole, run_limits=limits(options.run_timeout_s, _CASE_S, threads=1)),
        cases=tuple(Case(stdin=given.encode(errors="surrogatepass"), expected=wanted) for given, wanted in tests.pairs),
        check=Check(name="json_value" if tests.function else "decimals"),
        extracted_code=extracted.code,
        extracted_type=extracted.kind,
        full_code=whole,
        run_all=flag(options, "run_all_cases"),
    )


def _program(code: str, function: str | None) -> str:
    """What a solution prints beside the call of its function is no answer, so it goes elsewhere."""
    if function is None:
        return move_future_imports(f"{_HEADER}\n{code}")
    return value_program(f"{_HEADER}\n{code}\n{_CALL_FUNCTION}", f"_told_call({function!r})")


def _tests(row: Row) -> _Tests:
    if row.get("test") is None:
        return _published_tests(row)
    test = row["test"]
    held = unpack_tests(test) if isinstance(test, str) else test
    held = optional_json(held, "input_output") if isinstance(held, Mapping) and "input_output" in held else held
    if not isinstance(held, Mapping):
        raise InvalidRequest("the column 'test' must hold input_output with inputs and outputs")
    inputs, outputs = held.get("inputs"), held.get("outputs")
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs) or not inputs:
        raise InvalidRequest("input_output must have as many inputs as outputs, and at least one")
    function = _check_function_name(held.get("fn_name"))
    return _Tests(function, tuple(_pair(given, wanted, function) for given, wanted in zip(inputs, outputs, strict=True)))


def _published_tests(row: Row) -> _Tests:
    cases = [*_test_cases(row, "public_test_cases"), *_test_cases(row, "private_test_cases")]
    if not cases:
        raise InvalidRequest("the row has no tests: 'test' or 'public_test_cases' must hold some")
    function = _check_function_name(mapping(row, "metadata").get("func_name"))
    return _Tests(function, tuple(_pair(case.get("input"), case.get("output"), function) for case in cases))


def _test_cases(row: Row, name: str) -> list[Mapping[str, Any]]:
    value = row.get(name)
    held = (unpack_tests(value) if isinstance(value, str) else value) if value else []
    if not isinstance(held, list) or not all(isinstance(each, Mapping) for each in held):
        raise InvalidRequest(f"the column {name!r} must be a list of objects with input and output")
    return held


def _check_function_name(name: object) -> str | None:
    if name is None or name == "":
        return None
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InvalidRequest(f"the name of the function must be one in Python, not {name!r}")
    return name


def _pair(given: object, wanted: object, function: str | None) -> tuple[str, str]:
    """Of a function: a line of JSON for each argument, and its value in JSON."""
    if function and isinstance(given, list):
        given = "\n".join(json.dumps(each) for each in given)
    if function and not isinstance(wanted, str):
        wanted = json.dumps(wanted[0] if isinstance(wanted, list) and len(wanted) == 1 else wanted)
    if isinstance(given, list) and isinstance(wanted, list):
        given, wanted = "\n".join(map(str, given)), "\n".join(map(str, wanted))
    if not isinstance(given, str) or not isinstance(wanted, str):
        raise InvalidRequest("each of the inputs and outputs must be a text")
    return given, wanted


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    return ((fence(code, "python"), options),) if code else ()


LIVE_CODE_BENCH = Benchmark(name="LiveCodeBenchDataset", prompts=_prompts, trial=_trial, reference=_reference)
