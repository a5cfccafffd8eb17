"""The words in which a function, and what is missing of an assertion about it, are put to a model."""

from __future__ import annotations

from sandbox_runtime.benchmarks.cruxeval.examples import EXAMPLES, Example
from sandbox_runtime.benchmarks.cruxeval.modes import INPUT, MODES, OUTPUT, PLACEHOLDER, is_multilingual, mode_of
from sandbox_runtime.benchmarks.cruxeval.multilingual import row_language
from sandbox_runtime.benchmarks.row_columns import row_id, text
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
_DIRECT_ANSWER = " Answer with the completed part between [ANSWER] and [/ANSWER], and nothing else."
_CHAIN_OF_THOUGHT = (
    " Think step by step between [THOUGHT] and [/THOUGHT]; then answer with the completed part between [ANSWER] and [/ANSWER]."
)
_COMPLETE_LAST_LINE = " Complete the last line, and end it with # done."


def prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    """Both questions, unless one of them is asked for."""
    modes = MODES if options.extra.get("mode") is None else (mode_of(options),)
    return tuple(
        Prompt(id=row_id(row), prompt=_wrap(_prompt(row, options, mode), options), labels={"mode": mode}) for mode in modes
    )


def _wrap(prompt: str, options: Options) -> str:
    """Within a caller's own words: `coding_wrap_prompt` is a text with {prompt} in it."""
    words = options.extra.get("coding_wrap_prompt")
    if not words:
        return prompt
    if not isinstance(words, str) or "{prompt}" not in words:
        raise InvalidRequest("extra.coding_wrap_prompt must be a text that has {prompt} where the question belongs")
    return words.replace("{prompt}", prompt)


def _prompt(row: Row, options: Options, mode: str) -> str:
    language = row_language(row) if is_multilingual(row) else "python"
    example = EXAMPLES.get(language, EXAMPLES["python"]) if is_multilingual(row) else EXAMPLES["f"]
    asked = _multilingual_question(row, mode) if is_multilingual(row) else _python_question(row, mode)
    if flag(options, "phind_output"):
        shown = f"{_example_question(example, mode)}\n{_example_answer(example, mode)} # done"
        return f"{_TASKS[mode]}{_COMPLETE_LAST_LINE}\n\n{shown}\n\n{asked}\n"
    tag, thinks = language.upper(), flag(options, "use_cot")
    task = f"{_TASKS[mode]}{_CHAIN_OF_THOUGHT if thinks else _DIRECT_ANSWER}"
    begun = "[THOUGHT]" if thinks else "[ANSWER]"
    return f"{task}\n\n{_format_example(tag, example, options, mode)}[{tag}]\n{asked}\n[/{tag}]\n{begun}\n"


def _python_question(row: Row, mode: str) -> str:
    left = text(row, "input") if mode == OUTPUT else "??"
    right = text(row, "output") if mode == INPUT else "??"
    return f"{text(row, 'code')}\nassert f({left}) == {right}"


def _multilingual_question(row: Row, mode: str) -> str:
    return f"{text(row, 'code')}\n{text(row, mode)}"


def _format_example(tag: str, example: Example, options: Options, mode: str) -> str:
    thought = f"[THOUGHT]\n{example.thought}\n[/THOUGHT]\n" if flag(options, "use_cot") else ""
    answer = f"[ANSWER]\n{_example_answer(example, mode)}\n[/ANSWER]\n\n"
    return f"[{tag}]\n{_example_question(example, mode)}\n[/{tag}]\n{thought}{answer}"


def _example_question(example: Example, mode: str) -> str:
    told = {"arguments": example.arguments, "result": example.result}
    hidden = "arguments" if mode == INPUT else "result"
    return _fill_example(example, {**told, hidden: PLACEHOLDER if example.has_placeholder else "??"})


def _example_answer(example: Example, mode: str) -> str:
    if not example.has_placeholder:
        return f"assert f({example.arguments}) == {example.result}"
    return example.call.replace("<arguments>", example.arguments) if mode == INPUT else example.result


def _fill_example(example: Example, told: dict[str, str]) -> str:
    return example.code.replace("<arguments>", told["arguments"]).replace("<result>", told["result"])
