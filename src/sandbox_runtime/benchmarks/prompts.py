"""The words in which a function is asked for, where benchmarks have them in common."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox_runtime.benchmarks.trials import flag
from sandbox_runtime.model.judge import Options

_COMPLETE: Mapping[str, str] = {
    "en": "Complete the following {language} function. Answer with the whole function in one fenced code block.\n\n{block}\n",
    "zh": "请补全下面的 {language} 函数，并在一个代码块中给出完整的函数。\n\n{block}\n",
}


def completion_prompt(code: str, language: str, options: Options) -> str:
    """The beginning of a function as it is, for models that go on with a text; with `is_freeform` as a request for an answer."""
    if not flag(options, "is_freeform"):
        return code
    words = _COMPLETE["zh" if options.locale == "zh" else "en"]
    return words.format(language=language, block=f"```{language}\n{code.rstrip()}\n```")


def fence(code: str, language: str) -> str:
    """Code as a chat model would answer it."""
    return f"```{language}\n{code.strip(chr(10))}\n```"
