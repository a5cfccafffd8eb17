"""MBPP: a sentence, three assertions, and a Python function that fulfils them.

A row: id, content, test_list, labels {test_setup_code, challenge_test_list, test_imports}, canonical_solution. The setup of a
row's tests is run behind the solution: in two rows it builds objects of a class that the solution defines.
"""

from __future__ import annotations

from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text, texts
from sandbox_runtime.benchmarks.trials import extract_freeform, python_trial
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import ExtractedCode, text_before
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_TASK = "You are an expert Python programmer, and here is your task: {task} Your code should pass these tests:\n\n{tests}\n"
_BEGIN, _DONE = "[BEGIN]", "[DONE]"
_FEWSHOT_TESTS = 2

_EXAMPLES = (
    (
        "Write a function that counts the vowels of a word.",
        ('assert count_vowels("sandbox") == 2', 'assert count_vowels("rhythm") == 0'),
        'def count_vowels(word):\n    return sum(letter in "aeiou" for letter in word.lower())',
    ),
    (
        "Write a function that keeps the numbers of a list which are larger than the one before them.",
        ("assert rising([3, 1, 4, 1, 5]) == [4, 5]", "assert rising([2, 2]) == []"),
        "def rising(numbers):\n    return [after for before, after in zip(numbers, numbers[1:]) if after > before]",
    ),
    (
        "Write a function that tells whether two texts have the same letters, each as often.",
        ('assert same_letters("listen", "silent") == True', 'assert same_letters("aab", "abb") == False'),
        "def same_letters(first, second):\n    return sorted(first) == sorted(second)",
    ),
)


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    task, tests = _task(row), _tests(row)
    if options.is_fewshot:
        examples = [f"{_format_task(*example[:2])}{_BEGIN}\n{example[2]}\n{_DONE}\n\n" for example in _EXAMPLES]
        prompt = "".join(examples) + _format_task(task, tests[:_FEWSHOT_TESTS]) + _BEGIN + "\n"
    else:
        prompt = _format_task(task, tests)
    return (Prompt(id=row_id(row), prompt=prompt, labels=labels_of(row)),)


def _format_task(task: str, tests: tuple[str, ...]) -> str:
    return _TASK.format(task=task, tests="\n".join(tests))


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    extracted = _extract(completion)
    tests = _tests(row)[-1:] if options.is_fewshot else _tests(row)
    return python_trial(
        extracted,
        options,
        solution="\n".join([*_label_texts(row, "test_imports"), extracted.code]),
        tests="\n".join([_setup(row), *tests]),
    )


def _extract(completion: Completion) -> ExtractedCode:
    """What a base model adds to its function (the end mark, tests, a remark) is cut off. In a fenced block a text at the left
    edge is the model's own and stays."""
    found = extract_freeform(completion, "python", text=text_before(completion.text, _DONE), first_block_only=True)
    code = text_before(text_before(found.code, "\nassert"), "if __name__ ==")
    return ExtractedCode(code if found.kind == "fenced" else text_before(code, '\n"""'), found.kind)


def _task(row: Row) -> str:
    return text(row, "content", "text", "prompt")


def _tests(row: Row) -> tuple[str, ...]:
    tests = texts(row, "test_list") or texts(row, "test")
    if not tests:
        raise InvalidRequest("the row has no tests: 'test_list' must be a list of assertions")
    return tests


def _setup(row: Row) -> str:
    return optional_text(row, "test_setup_code") or optional_text(labels_of(row), "test_setup_code") or ""


def _label_texts(row: Row, name: str) -> tuple[str, ...]:
    return texts(row, name) or texts(labels_of(row), name)


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    code = optional_text(row, "canonical_solution", "code")
    return ((fence(code, "python"), options),) if code else ()


MBPP = Benchmark(name="MBPPDataset", prompts=_prompts, trial=_trial, reference=_reference)
