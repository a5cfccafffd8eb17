"""Sets of word problems with one right answer: those of PAL, of its evaluations, and the multiple-choice tasks beside them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row

COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "choices": "task input target_scores",
        "plain": "input target",
        "asdiv": "body question answer",
        "gsm8k": "question answer idx",
        "math": "problem solution level",
        "svamp": "Body Question Answer",
    }
)
_PROMPT = (
    "Let's use python to solve math problems.\n\nQuestion: {question}\n\nAnswer with one fenced block of Python that defines "
    "solution(), which takes nothing and returns the result.\nAnswer:\n"
)
_FINAL = re.compile(r"####\s*(\S[^\n]*)")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*(?=\{)")


@dataclass(frozen=True, slots=True)
class _Problem:
    question: str
    answer: str


def read(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Iterable[Row]:
    return [_row(file.stem, number, record) for file in problems for number, record in enumerate(file.records)]


def _row(name: str, number: int, record: Record) -> Row:
    problem = _problem(record)
    answer = base64.b64encode(json.dumps({"gt": problem.answer}).encode()).decode()
    code = record.get("code")
    labels = {"programming_language": "python", "execution_language": "python", "index": number, "question": problem.question}
    return {
        "id": f"{name}/{number}",
        "content": _PROMPT.format(question=problem.question),
        "labels": labels,
        "test": {"asset": {"answer.json": answer}},
        "canonical_solution": json.dumps({"code": code.strip("\n"), "answer": problem.answer}) if isinstance(code, str) else "",
    }


def _problem(record: Record) -> _Problem:
    kind = next(kind for kind, columns in COLUMNS.items() if set(columns.split()) <= record.keys())
    return _READERS[kind](record)


def _plain(record: Record) -> _Problem:
    return _Problem(str(record["input"]), _format_number(record["target"]))


def _choices(record: Record) -> _Problem:
    right = [choice for choice, score in record["target_scores"].items() if score]
    if not right:
        raise InvalidRequest(f"no choice is right: {str(record['input'])[:80]!r}")
    told = str(record["task"].get("task_prefix") or "")
    return _Problem(f"{told}{record['input']}", right[0])


def _asdiv(record: Record) -> _Problem:
    return _Problem(f"{record['body']} {record['question']}", str(record["answer"]).partition(" (")[0].strip())


def _gsm8k(record: Record) -> _Problem:
    found = _FINAL.search(str(record["answer"]))
    if found is None:
        raise InvalidRequest(f"the answer has no final line: {str(record['answer'])[-80:]!r}")
    return _Problem(str(record["question"]), found[1].replace(",", "").strip())


def _math(record: Record) -> _Problem:
    return _Problem(str(record["problem"]), boxed_answer(str(record["solution"])))


def _svamp(record: Record) -> _Problem:
    body = str(record["Body"]).rstrip()
    return _Problem(f"{body if body.endswith('.') else body + ','} {record['Question']}", _format_number(record["Answer"]))


def boxed_answer(solution: str) -> str:
    """What the last box of a solution holds."""
    found = list(_BOXED.finditer(solution))
    if not found:
        _, sign, rest = solution.rpartition("\\boxed ")
        if sign:
            return re.split(r"[\s$.]", rest, maxsplit=1)[0]
        raise InvalidRequest(f"the solution has no boxed answer: {solution[-80:]!r}")
    depth, begins = 0, found[-1].end()
    for place in range(begins, len(solution)):
        depth += {"{": 1, "}": -1}.get(solution[place], 0)
        if depth == 0:
            return solution[begins + 1 : place]
    return solution[begins + 1 :]


def _format_number(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else str(value)


_READERS: Mapping[str, Callable[[Record], _Problem]] = MappingProxyType(
    {"choices": _choices, "plain": _plain, "asdiv": _asdiv, "gsm8k": _gsm8k, "math": _math, "svamp": _svamp}
)
