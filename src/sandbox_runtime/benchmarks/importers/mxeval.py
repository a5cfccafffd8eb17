"""mxeval (MBXP, HumanEval and MathQA in many languages): a prompt that begins a function, and a program that calls it.

The rows are those of MBXP: the answer, a whole function, goes where the test has its marker. In some languages the test closes a
class that the prompt opens; there the class is the test's, and the answer's method goes into it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.benchmarks.programs import MARKER
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row

_PROMPT = "Complete this code. Answer with all of it, imports included, in one fenced code block.\n```{language}\n{prompt}\n```"
_EXECUTION_LANGUAGES: Mapping[str, str] = {"javascript": "nodejs", "kotlin": "kotlin_script"}
_LANGUAGES = frozenset(
    ("python", "cpp", "java", "javascript", "typescript", "php", "ruby", "perl", "kotlin", "scala", "swift", "go", "csharp")
)
_CLASS_HEAD = re.compile(r"\b(?:class|object)\s+\w+\b[^{]{0,1000}\{")


def read(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    return [_row(record) for file in problems for record in file.records]


def dataset(file: PublishedFile) -> str:
    return "mbxp_v1_en"


def _row(record: Record) -> Row:
    language = str(record["language"]).lower()
    if language not in _LANGUAGES:
        raise InvalidRequest(f"{record['task_id']} is in {language!r}, which is none of {', '.join(sorted(_LANGUAGES))}")
    return {
        "id": record["task_id"],
        "content": _PROMPT.format(language=language, prompt=record["prompt"].rstrip()),
        "labels": {
            "task_id": record["task_id"],
            "programming_language": language,
            "execution_language": _EXECUTION_LANGUAGES.get(language, language),
            "category": str(record["task_id"]).partition("/")[0],
        },
        "test": {"code": _test(record, language), "asset": None},
        "canonical_solution": _solution(record, language),
    }


def _test(record: Record, language: str) -> str:
    return _TESTS.get(language, _append_test)(record)


def _append_test(record: Record) -> str:
    return f"{MARKER}\n{record['test']}"


def _python_test(record: Record) -> str:
    """The function that checks has a name of its own: one that is to be written may be called `check`."""
    test = re.sub(r"\bcheck\(", "x_check(", str(record["test"]))
    entry = record["entry_point"]
    return f"{MARKER}\n{test}\nx_check({entry})" if re.search(r"\bdef x_check\(", test) else f"{MARKER}\n{test}"


def _script_test(record: Record) -> str:
    """A script calls what a program would be started with."""
    return f"{_append_test(record)}\n\nmain()\n"


def _class_test(record: Record) -> str:
    """All of the prompt up to and with the brace that opens the class."""
    opens = list(_CLASS_HEAD.finditer(str(record["prompt"])))
    head = str(record["prompt"])[: opens[-1].end()] if opens else ""
    return f"{head}\n\n{MARKER}\n\n{record['test']}"


_TESTS: Mapping[str, Callable[[Record], str]] = {
    "python": _python_test,
    "kotlin": _script_test,
    "scala": _class_test,
    "csharp": _class_test,
}


def _solution(record: Record, language: str) -> str:
    body = record.get("canonical_solution")
    if not body:
        return ""
    whole = f"{record['prompt']}{body}"
    opened = len(_CLASS_HEAD.findall(str(record["prompt"]))) + str(record["prompt"]).count("namespace ")
    return whole + "\n}" * opened if language in ("scala", "csharp") else whole
