"""Answers in other languages: what a model may put in the place of ???? without reaching what is around it.

No language is understood here. An answer must keep its brackets to itself; where an output is asked it is put in parentheses, so
that no operator or further argument joins the check, and may not name the function. Two languages have no such parentheses: an
answer in Racket must be one datum, one in Bash words without anything that is expanded.
"""

from __future__ import annotations

import re

from sandbox_runtime.benchmarks.cruxeval.expressions import ForbiddenAnswer, InvalidAnswer
from sandbox_runtime.benchmarks.cruxeval.modes import OUTPUT

# What a backslash escapes begins no text: so one that is never closed is looked through once, not from each quote in it.
_STRING = re.compile(r"\\.|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`", re.DOTALL)
_LISP_STRING = re.compile(r"\\.|\"(?:\\.|[^\"\\])*\"|#\\.", re.DOTALL)
_DATUM = re.compile(r"['`,]*(?:#\w*)?[(\[]|[)\]]|[^\s()\[\]]+")
_INTERPOLATION = re.compile(r"[#$@]\{|\$\(|\\\(|@\{\[")
_BASH_PIECE = r"\"(?:\\.|[^\"\\`$]|\$(?![({\w@*#?!$-]))*\"|\$?'[^']*'|[\w.,:+/@%=-]"
_BASH_WORD = re.compile(rf"(?:{_BASH_PIECE})+", re.DOTALL)
_BASH_WORDS = re.compile(rf"(?:{_BASH_PIECE}|\s)+", re.DOTALL)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_FUNCTIONS = {"csharp": "F|candidate"}
_DEFAULT_FUNCTIONS = "f|candidate"


def check_answer(answer: str, mode: str, language: str) -> str:
    """The answer as it is put in."""
    if not answer:
        raise InvalidAnswer("there is no answer")
    if language == "bash":
        return _check_bash(answer, mode)
    bare = (_LISP_STRING if language == "racket" else _STRING).sub(_empty_string, answer)
    _check_brackets(bare)
    if mode != OUTPUT:
        return answer
    _check_copy(answer, bare, language)
    if language == "racket":
        return _check_one_datum(answer, bare)
    return f"({answer})"


def _empty_string(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("\\") else '""'


def _check_brackets(bare: str) -> None:
    open_ones: list[str] = []
    for character in bare:
        if character in _PAIRS.values():
            open_ones.append(character)
        elif character in _PAIRS and (not open_ones or open_ones.pop() != _PAIRS[character]):
            raise ForbiddenAnswer("the answer closes brackets that are not its own")
    if open_ones:
        raise InvalidAnswer("the answer leaves brackets open")


def _check_copy(answer: str, bare: str, language: str) -> None:
    names = rf"(?<![\w#])(?:{_FUNCTIONS.get(language, _DEFAULT_FUNCTIONS)})\b"
    hidden = _INTERPOLATION.search(answer) and re.search(rf"{names}\s*(?:\(|\.|->)", answer)
    if re.search(names, bare) or hidden:
        raise ForbiddenAnswer("the answer calls the function instead of telling what it gives")


def _check_one_datum(answer: str, bare: str) -> str:
    depth, found = 0, 0
    for piece in _DATUM.findall(bare):
        found += depth == 0 and piece not in ")]"
        depth += (piece[-1] in "([") - (piece in ")]")
    if found != 1:
        raise InvalidAnswer("the answer is not one value")
    return answer


def _check_bash(answer: str, mode: str) -> str:
    allowed = _BASH_WORD if mode == OUTPUT else _BASH_WORDS
    if not allowed.fullmatch(answer):
        raise InvalidAnswer("the answer must be plain words or quoted texts, with nothing in them that the shell expands")
    return answer
