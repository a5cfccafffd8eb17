"""Contest problems: a program reads its input and writes its answer, and the answers are compared outside its box.

A row: id, content, labels, test (a list of {"input": {"stdin"}, "output": {"stdout"}}). Outputs are compared line by line unless
the row or the caller's extra options name another way: `checker` is the name of a checker ("tokens"), an object with its name and
options ({"name": "floats", "absolute": 1e-6}), or a program ({"language": "cpp", "code": ...}) that is given the input, the
output and the expected output as files; `interactor` ({"language", "code"}) is a program that talks with the solution.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_json, optional_text, row_id, text
from sandbox_runtime.benchmarks.trials import flag, limits
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import default_extract
from sandbox_runtime.model.job import Job
from sandbox_runtime.model.judge import Benchmark, Case, Check, Completion, Options, Prompt, Row, Trial

_COMPILED = frozenset({"cpp", "go", "java"})
_COMPILED_S, _INTERPRETED_S, _CHECKER_S = 10.0, 20.0, 30.0
_SINGLE_THREADED = frozenset({"c", "cpp", "python", "pypy", "rust"})
"""Languages whose programs have no more threads than they start: others work on several processors without being told to."""
_MAX_SHOWN_CHARACTERS, _SHOWN_END_CHARACTERS = 1000, 500

_INSTRUCTIONS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "cpp": "Answer with a complete C++ program that reads its input from stdin and writes the result to stdout.",
        "python": "Answer with a complete Python program that reads its input from stdin and writes the result to stdout.",
        "java": "Answer with a complete Java program (class Main) that reads input from stdin and writes the result to stdout.",
        "": "Answer with a complete program in {language} that reads its input from stdin and writes the result to stdout.",
    },
    "zh": {
        "cpp": "请用完整的 C++ 程序作答，从标准输入读取数据，并把结果写到标准输出。",
        "python": "请用完整的 Python 程序作答，从标准输入读取数据，并把结果写到标准输出。",
        "java": "请用完整的 Java 程序作答，主类名为 Main，从标准输入读取数据，并把结果写到标准输出。",
        "": "请用完整的 {language} 程序作答，从标准输入读取数据，并把结果写到标准输出。",
    },
}


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    wishes = _INSTRUCTIONS["zh" if options.locale == "zh" else "en"]
    language = options.language or "python"
    wish = wishes.get(language, wishes[""]).format(language=language)
    return (Prompt(id=row_id(row), prompt=f"{text(row, 'content')}\n\n{wish}", labels=labels_of(row)),)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    if options.language is None:
        raise InvalidRequest("config.language is required for this dataset: it says in which language the answer is to be run")
    extracted = default_extract(completion, options.language)
    return Trial(
        job=_job(options.language, extracted.code, options),
        cases=_cases(row, shorten=not flag(options, "return_full_case")),
        check=_check(row, options),
        extracted_code=extracted.code,
        extracted_type=extracted.kind,
        full_code=extracted.code,
        run_all=flag(options, "run_all_cases"),
    )


def _job(language: str, code: str, options: Options) -> Job:
    run_s = _COMPILED_S if language in _COMPILED else _INTERPRETED_S
    return Job(
        language=language,
        code=code,
        compile_limits=limits(options.compile_timeout_s, _COMPILED_S),
        run_limits=limits(options.run_timeout_s, run_s, threads=1 if language in _SINGLE_THREADED else 2),
    )


def _cases(row: Row, *, shorten: bool) -> tuple[Case, ...]:
    tests = optional_json(row, "test")
    if not isinstance(tests, list) or not tests:
        raise InvalidRequest("the column 'test' must be a list of at least one {'input': {'stdin'}, 'output': {'stdout'}}")
    return tuple(_case(number, test, shorten) for number, test in enumerate(tests))


def _case(number: int, test: object, shorten: bool) -> Case:
    stdin, expected = _stream(number, test, "input", "stdin"), _stream(number, test, "output", "stdout")
    info = {"input": {"stdin": stdin}, "output": {"stdout": expected}}
    short = _shorten_info(info) if shorten else None
    return Case(stdin=stdin.encode(errors="surrogatepass"), expected=expected, info=info, short_info=short)


def _stream(number: int, test: object, side: str, name: str) -> str:
    held = test.get(side) if isinstance(test, Mapping) else None
    value = held.get(name, "") if isinstance(held, Mapping) else None
    if not isinstance(value, str):
        raise InvalidRequest(f"test {number} must have a text {side}.{name}")
    return value


def _shorten_info(info: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    return {side: {name: shorten(value) for name, value in held.items()} for side, held in info.items()}


def shorten(value: str) -> str:
    """Both ends of a long text."""
    return value if len(value) <= _MAX_SHOWN_CHARACTERS else f"{value[:_SHOWN_END_CHARACTERS]}...{value[-_SHOWN_END_CHARACTERS:]}"


def _check(row: Row, options: Options) -> Check:
    interactor = _option_or_column(row, options, "interactor")
    if interactor is not None:
        return Check(name="interactive", job=_program("interactor", interactor))
    checker = _option_or_column(row, options, "checker")
    if checker is None:
        return Check(name="lines")
    if isinstance(checker, str):
        return Check(name=checker)
    if isinstance(checker, Mapping) and "code" in checker:
        return Check(name="program", job=_program("checker", checker))
    if isinstance(checker, Mapping) and isinstance(checker.get("name"), str):
        return Check(name=checker["name"], options={key: value for key, value in checker.items() if key != "name"})
    raise InvalidRequest("a checker must be a name, an object with a name, or an object with language and code")


def _option_or_column(row: Row, options: Options, what: str) -> Any:
    """The caller's choice, else the row's own, in a column or among its labels."""
    if options.extra.get(what) is not None:
        return options.extra[what]
    found = row.get(what) or labels_of(row).get(what)
    if isinstance(found, str) and found.lstrip().startswith("{"):
        return optional_json({what: found}, what)
    return found


def _program(what: str, given: object) -> Job:
    if not (isinstance(given, Mapping) and isinstance(given.get("language"), str) and isinstance(given.get("code"), str)):
        raise InvalidRequest(f"the {what} must be an object with the texts language and code")
    return Job(
        language=given["language"],
        code=given["code"],
        compile_limits=limits(None, _CHECKER_S),
        run_limits=limits(None, _CHECKER_S),
    )


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution")
    language = options.language or optional_text(row, "language") or "python"
    if not code:
        return ()
    return ((fence(code, language), dataclasses.replace(options, language=language)),)


COMMON_OJ = Benchmark(name="CommonOJDataset", prompts=_prompts, trial=_trial, reference=_reference)
