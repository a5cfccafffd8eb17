"""The program of a model that goes on with a text: prompt, what it wrote up to where the function ends, tests."""

from __future__ import annotations

from sandbox_runtime.benchmarks.functions.languages import FunctionLanguage
from sandbox_runtime.judge.extraction import before_first_unindented_line, trim_stop_tokens

_PARAGRAPH = "\n\n"


def python_body(completion: str) -> str:
    """Python: what a model went on with, up to the first line at the left edge."""
    return before_first_unindented_line(completion.replace("\r", ""))


def cut_at_function_end(completion: str, stop_tokens: tuple[str, ...] | None, language: FunctionLanguage) -> str:
    """What belongs to the function. stop_tokens: the row's own; None where it has none, as rows in Python. An empty line never
    ends a function: they have them."""
    if stop_tokens is None:
        return python_body(completion)
    text = completion.replace("\r", "")
    text = trim_stop_tokens(text, [token for token in stop_tokens if token != _PARAGRAPH])
    if not language.function_end or language.function_end not in text:
        return text
    return text[: text.index(language.function_end) + len(language.function_end)]


def join_prompt(prompt: str, completion: str) -> str:
    return f"{prompt}{completion}" if prompt.endswith("\n") or completion.startswith("\n") else f"{prompt}\n{completion}"
