"""The program of a model that goes on with a text: prompt, what it wrote up to where the function ends, tests."""

from __future__ import annotations

from sandbox_runtime.benchmarks.functions.languages import Tongue
from sandbox_runtime.judge.extraction import before_first_unindented_line, trim_stop_tokens

_PARAGRAPH = "\n\n"


def body_of(completion: str) -> str:
    """Python: what a model went on with, up to the first line at the left edge."""
    return before_first_unindented_line(completion.replace("\r", ""))


def up_to_its_end(completion: str, stop_tokens: tuple[str, ...] | None, tongue: Tongue) -> str:
    """What belongs to the function. stop_tokens: the row's own; None where it has none, as rows in Python. An empty line never
    ends a function: they have them."""
    if stop_tokens is None:
        return body_of(completion)
    text = completion.replace("\r", "")
    text = trim_stop_tokens(text, [token for token in stop_tokens if token != _PARAGRAPH])
    if not tongue.end or tongue.end not in text:
        return text
    return text[: text.index(tongue.end) + len(tongue.end)]


def joined(prompt: str, completion: str) -> str:
    return f"{prompt}{completion}" if prompt.endswith("\n") or completion.startswith("\n") else f"{prompt}\n{completion}"
