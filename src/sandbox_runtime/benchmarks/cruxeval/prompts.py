"""The words in which a function, and what is missing of an assertion about it, are put to a model."""

from __future__ import annotations

from sandbox_runtime.benchmarks.columns import row_id, text
from sandbox_runtime.benchmarks.cruxeval.examples import EXAMPLES, Example
from sandbox_runtime.benchmarks.cruxeval.modes import ASKED, INPUT, MODES, OUTPUT, is_of_many, mode_of
from sandbox_runtime.benchmarks.cruxeval.multilingual import detect_language
from sandbox_runtime.benchmarks.trials import flag
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Options, Prompt, Row

_TASKS = {
    OUTPUT: (
        "You are given code that defines a function, and a check that calls it with an input. Find what it gives and complete"
        " the check with it: a literal, with nothing left to be computed and no call of the function."
    ),
    INPUT: (
        "You are given code that defines a function, and a check that compares what it gives with a value. Find an input"
        " for which the check holds and complete the check with it. There may be several such inputs; any of them will do."
    ),
}
_PLAIN = " Answer with the completed part between [ANSWER] and [/ANSWER], and nothing else."
_THINKING = (
    " Think step by step between [THOUGHT] and [/THOUGHT]; then answer with the completed part between [ANSWER] and [/ANSWER]."
)
_ENDING = " Complete the last line, and end it with # done."


def prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    """Both questions, unless one of them is asked for."""
    modes = MODES if options.extra.get("mode") is None else (mode_of(options),)
    return tuple(
        Prompt(id=row_id(row), prompt=_wrapped(_prompt(row, options, mode), options), labels={"mode": mode}) for mode in modes
    )


def _wrapped(prompt: str, options: Options) -> str:
    """Within a caller's own words: `coding_wrap_prompt` is a text with {prompt} in it."""
    words = options.extra.get("coding_wrap_prompt")
    if not words:
        return prompt
    if not isinstance(words, str) or "{prompt}" not in words:
        raise InvalidRequest("extra.coding_wrap_prompt must be a text that has {prompt} where the question belongs")
    return words.replace("{prompt}", prompt)


def _prompt(row: Row, options: Options, mode: str) -> str:
    language = detect_language(row) if is_of_many(row) else "python"
    example = EXAMPLES.get(language, EXAMPLES["python"]) if is_of_many(row) else EXAMPLES["f"]
    asked = _asked_of_many(row, mode) if is_of_many(row) else _asked_of_python(row, mode)
    if flag(options, "phind_output"):
        return f"{_TASKS[mode]}{_ENDING}\n\n{_question(example, mode)}\n{_answer(example, mode)} # done\n\n{asked}\n"
    tag, thinks = language.upper(), flag(options, "use_cot")
    task = f"{_TASKS[mode]}{_THINKING if thinks else _PLAIN}"
    begun = "[THOUGHT]" if thinks else "[ANSWER]"
    return f"{task}\n\n{_shown(tag, example, options, mode)}[{tag}]\n{asked}\n[/{tag}]\n{begun}\n"


def _asked_of_python(row: Row, mode: str) -> str:
    left = text(row, "input") if mode == OUTPUT else "??"
    right = text(row, "output") if mode == INPUT else "??"
    return f"{text(row, 'code')}\nassert f({left}) == {right}"


def _asked_of_many(row: Row, mode: str) -> str:
    return f"{text(row, 'code')}\n{text(row, mode)}"


def _shown(tag: str, example: Example, options: Options, mode: str) -> str:
    thought = f"[THOUGHT]\n{example.thought}\n[/THOUGHT]\n" if flag(options, "use_cot") else ""
    return f"[{tag}]\n{_question(example, mode)}\n[/{tag}]\n{thought}[ANSWER]\n{_answer(example, mode)}\n[/ANSWER]\n\n"


def _question(example: Example, mode: str) -> str:
    told = {"arguments": example.arguments, "result": example.result}
    hidden = "arguments" if mode == INPUT else "result"
    return _filled(example, {**told, hidden: ASKED if example.asks else "??"})


def _answer(example: Example, mode: str) -> str:
    if not example.asks:
        return f"assert f({example.arguments}) == {example.result}"
    return example.call.replace("<arguments>", example.arguments) if mode == INPUT else example.result


def _filled(example: Example, told: dict[str, str]) -> str:
    return example.code.replace("<arguments>", told["arguments"]).replace("<result>", told["result"])
