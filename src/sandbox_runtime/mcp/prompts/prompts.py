"""The prompts, and how they are told and filled in. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mcp_types as types

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.prompts.arguments import Check, form, length
from sandbox_runtime.mcp.prompts.body import Body, chain, conditional, has_value, is_one_of, merge, text

_WORD = form(r"[\w+#.-]{1,40}", "python")
_SANDBOX = form(r"[0-9a-fA-F-]{36}", "the sandbox_id that create_sandbox told")
_PATH = length(4096)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    description: str
    default: str | None = None
    """None: it must be given."""
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """body: one text for each message."""

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    body: Body


_LANGUAGE = Parameter("language", "Its language.", "python", (_WORD,))
_SANDBOX_ID = Parameter("sandbox_id", "The sandbox; left out, a new one is made.", "", (_SANDBOX,))
_WHERE = conditional(
    has_value("sandbox_id"),
    text("Work in the sandbox $sandbox_id."),
    text("Make a sandbox with create_sandbox, and put the file into it with upload_file."),
)
_ANALYSIS = merge(
    text("Analyse the file $path.\n\nQuestion: $question"),
    _WHERE,
    text(
        '1. Use run_code with language python and context "new", and keep the context for all further steps.\n'
        "2. Look at the head of the file and its types first; then compute what the question needs, and plot where it helps.\n"
        "3. Answer with figures that the code printed, not from memory. Name rows that were left out, and why."
    ),
)
_DATA = (
    Parameter("path", "The file, below /workspace.", None, (_PATH,)),
    Parameter("question", "What is wanted to be known.", "Describe the data: columns, sizes, ranges, what stands out."),
    _SANDBOX_ID,
)
_MEASUREMENT = conditional(
    is_one_of("goal", "memory"),
    text("Measure the peak of its memory, on an input that is as large as those it will meet, before anything is changed."),
    text("Measure its time, on an input that is as large as those it will meet, before anything is changed."),
)

PROMPTS = (
    Prompt(
        "analyse_data_file",
        "Analyse a data file",
        "Look into a data file in a sandbox and answer a question about it.",
        _DATA,
        _ANALYSIS,
    ),
    Prompt(
        "analyse_and_report",
        "Analyse a data file and write a report",
        "The same, and then a report with plots, as a file in the sandbox.",
        (
            *_DATA,
            Parameter("report", "The file for the report, below /workspace.", "report.md", (_PATH, length(min_characters=1))),
        ),
        chain(
            _ANALYSIS,
            text(
                "When the question is answered, write the report $report in the same sandbox: the question, the answer in one "
                "sentence, the figures with how they were computed, the plots as files beside it. Read it once more with "
                "read_file and compare every figure with what the code printed."
            ),
        ),
    ),
    Prompt(
        "solve_and_test",
        "Solve and test",
        "Write a program for a task, test it, and hand over code that passes.",
        (
            Parameter("task", "What the program shall do."),
            Parameter("language", "In which language.", "python", (_WORD,)),
        ),
        text(
            "Solve this task in $language:\n\n$task\n\n"
            "1. Write down three to six tests first, with inputs at the edges: empty, smallest, largest, wrong.\n"
            "2. Write the program; it reads stdin and writes stdout unless the task says otherwise.\n"
            "3. Check it with judge_solution, or with run_code in a sandbox where it needs files.\n"
            "4. Mend it until every test passes. Hand over the program, the tests and what it costs in time and memory."
        ),
    ),
    Prompt(
        "fix_failing_code",
        "Fix failing code",
        "Find out why code fails, mend it, and prove that it is mended.",
        (
            Parameter("code", "The code that fails."),
            Parameter("error", "What it says, or what is wrong.", "(not told: run it first)"),
            _LANGUAGE,
        ),
        text(
            "This $language code fails:\n\n```$language\n$code\n```\n\nWhat is seen: $error\n\n"
            "1. Make a sandbox and run the code as it is: the failure must be seen before anything is changed.\n"
            "2. Make the smallest input that still fails, and explain the cause in one sentence.\n"
            "3. Mend the cause, not the symptom; run the small input and the whole again.\n"
            "4. Hand over the changed code, the cause and the output that proves it."
        ),
    ),
    Prompt(
        "port_code",
        "Write code anew in another language",
        "Bring a program into another language, and prove that both do the same.",
        (
            Parameter("code", "The program as it is."),
            _LANGUAGE,
            Parameter("target", "The language it shall be in.", None, (_WORD,)),
        ),
        text(
            "Write this $language program anew in $target:\n\n```$language\n$code\n```\n\n"
            "1. Make a sandbox and run it on five inputs, edges among them; keep what it prints.\n"
            "2. Write it in $target, as people who write $target do; run it on the same inputs.\n"
            "3. Compare byte for byte. Where they differ, find out which of the two is right before you change one.\n"
            "4. Hand over the new program and the inputs; say what could not be brought over."
        ),
    ),
    Prompt(
        "make_faster",
        "Make code take less",
        "Measure a program, find what it spends most on, change that, and measure again.",
        (
            Parameter("code", "The program."),
            _LANGUAGE,
            Parameter("goal", "time or memory.", "time", (form(r"(?i)time|memory", "time, or memory"),)),
        ),
        merge(
            text("This $language program takes too much $goal:\n\n```$language\n$code\n```"),
            _MEASUREMENT,
            text(
                "Find out what it spends most on, with a profiler rather than by guessing. Change that alone, run it again, and "
                "compare both its output and its figures with those of before. Stop where a change brings less than a tenth.\n"
                "Hand over the program and a table: change, before, after."
            ),
        ),
    ),
)
_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def list_prompts() -> list[types.Prompt]:
    return [
        types.Prompt(
            name=prompt.name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                types.PromptArgument(name=parameter.name, description=parameter.description, required=parameter.default is None)
                for parameter in prompt.parameters
            ],
        )
        for prompt in PROMPTS
    ]


def render(name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
    prompt = get_prompt(name)
    messages = [
        types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        for text in prompt.body(_fill(prompt, arguments))
    ]
    return types.GetPromptResult(description=prompt.description, messages=messages)


def get_prompt(name: str) -> Prompt:
    prompt = _BY_NAME.get(name)
    if prompt is None:
        raise InvalidRequest(f"there is no prompt {name[:100]!r}; there are {', '.join(_BY_NAME)}")
    return prompt


def _fill(prompt: Prompt, arguments: Mapping[str, str]) -> dict[str, str]:
    known = {parameter.name for parameter in prompt.parameters}
    unknown = sorted(arguments.keys() - known)
    if unknown:
        raise InvalidRequest(f"the prompt {prompt.name} has no argument {unknown[0][:60]!r}; it has {', '.join(sorted(known))}")
    return {
        parameter.name: _value(prompt, parameter, arguments.get(parameter.name, parameter.default))
        for parameter in prompt.parameters
    }


def _value(prompt: Prompt, parameter: Parameter, value: str | None) -> str:
    if value is None or (parameter.default is None and not value.strip()):
        raise InvalidRequest(f"the prompt {prompt.name} needs the argument {parameter.name}: {parameter.description}")
    for check in (length(), *parameter.checks):
        if complaint := check(value):
            raise InvalidRequest(f"the argument {parameter.name} of the prompt {prompt.name} {complaint}")
    return value
