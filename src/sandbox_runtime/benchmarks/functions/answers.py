"""The program of a model that answers with a block of code.

In some languages the row's tests begin by closing the function (and the class around it), because they were made to follow an
unfinished one. The answer is cut there; where that would lose something the function needs, the whole answer is kept, and the
tests lose their brace instead.
"""

from __future__ import annotations

import re

from sandbox_runtime.benchmarks.functions.languages import FunctionLanguage
from sandbox_runtime.judge.extraction import trim_stop_tokens
from sandbox_runtime.judge.extraction.braces import without_block

_FUNCTION_DEFINITION = re.compile(r"\b(\w+)[ \t]*\([^(){};]{0,400}\)[^;{}]{0,200}\{")
_NOT_FUNCTIONS = frozenset({"if", "for", "while", "switch", "catch", "match", "main", "Main"})
_CALL = re.compile(r"\b(\w+)[ \t]*\(")
_CLASS = re.compile(
    r"^[ \t]*(?:(?:public|private|internal|static|final|sealed|abstract)[ \t]+)*(?:class|object)[ \t]+(\w+)", re.MULTILINE
)


def function_name(prompt: str) -> str:
    """The name of the function that a prompt begins: the one that its last line with a bracket names."""
    heads = [line for line in prompt.splitlines() if _CALL.search(line) and not line.lstrip().startswith(("//", "#", ";", "--"))]
    if not heads:
        return ""
    lisp = re.search(r"\(define \((\S+)", heads[-1])
    found = lisp or _CALL.search(heads[-1])
    return found[1] if found else ""


def join_tests(code: str, tests: str, stop_tokens: tuple[str, ...], language: FunctionLanguage, prompt: str) -> str:
    """Code and tests in one."""
    if not language.tests_close_function:
        code = without_block(code, language.main_head) if language.main_head else code
        code = code.rstrip().removesuffix(language.closing_tag)
        return f"{code}\n{tests}"
    if language.in_class and not _CLASS.search(code):
        code = _class_head(prompt) + code + "\n}"
    trimmed = trim_stop_tokens(code, [token for token in stop_tokens if token != "\n\n"])
    if trimmed == code or _drops_needed_code(code, trimmed, function_name(prompt)):
        return _keep_whole_answer(code, tests, language)
    return f"{trimmed}\n{tests}"


def _drops_needed_code(code: str, trimmed: str, name: str) -> bool:
    """Whether what was cut off holds the function, or one that what is left calls."""
    if name and name not in trimmed:
        return True
    behind = {found[1] for found in _FUNCTION_DEFINITION.finditer(code, len(trimmed))} - _NOT_FUNCTIONS
    return any(re.search(rf"\b{re.escape(each)}\b", trimmed) for each in behind)


def _keep_whole_answer(code: str, tests: str, language: FunctionLanguage) -> str:
    if language.main_head:
        code = without_block(code, language.main_head)
    if language.in_class:
        code = code.rstrip().removesuffix("}")
    return f"{code}\n{tests.lstrip().removeprefix('}')}"


def _class_head(prompt: str) -> str:
    """The lines of a prompt down to the class that the function stands in."""
    found = _CLASS.search(prompt)
    end = prompt.find("{", found.end()) if found else -1
    return prompt[: end + 1] + "\n" if end >= 0 else ""


def rename_to_main(code: str) -> str:
    """Java: the class that the tests' main stands in is the one that is run."""
    found = _CLASS.search(code)
    if found is None or re.search(r"\bclass[ \t]+Main\b", code):
        return code
    return re.sub(rf"\b{re.escape(found[1])}\b", "Main", code)
