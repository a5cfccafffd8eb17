"""The prompts, and functions to list and render them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mcp_types as types

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.prompts.arguments import Check, form, length
from sandbox_runtime.mcp.prompts.body import Body, chain, conditional, has_value, is_one_of, merge, text

_WORD = form(r"[\w+#.-]{1,40}", "python")
_SANDBOX = form(r"[0-9a-fA-F-]{36}", "the sandbox_id returned by create_sandbox")
_PATH = length(4096)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    description: str
    default: str | None = None
    """None: required."""
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    body: Body


_LANGUAGE = Parameter("language", "The language of the code.", "python", (_WORD,))
_SANDBOX_ID = Parameter("sandbox_id", "The sandbox to use; a new one is created if omitted.", "", (_SANDBOX,))
_WHERE = conditional(
    has_value("sandbox_id"),
    text("Work in the sandbox $sandbox_id."),
    text("Create a sandbox with create_sandbox and upload the file with upload_file."),
)
_ANALYSIS = merge(
    text("Analyse the file $path.\n\nQuestion: $question"),
    _WHERE,
    text(
        '1. Use run_code with language python and context "new", and keep the context for all further steps.\n'
        "2. Look at the head of the file and its types first; then compute what the question needs, and plot where it helps.\n"
        "3. Answer with numbers that the code printed, not from memory. Name rows that were left out, and why."
    ),
)
_DATA = (
    Parameter("path", "The file, below /workspace.", None, (_PATH,)),
    Parameter("question", "The question to answer.", "Describe the data: columns, sizes, ranges, what stands out."),
    _SANDBOX_ID,
)
_MEASUREMENT = conditional(
    is_one_of("goal", "memory"),
    text("Before changing anything, measure its peak memory on an input of realistic size."),
    text("Before changing anything, measure its run time on an input of realistic size."),
)

PROMPTS = (
    Prompt(
        "analyse_data_file",
        "Analyse a data file",
        "Analyse a data file in a sandbox and answer a question about it.",
        _DATA,
        _ANALYSIS,
    ),
    Prompt(
        "analyse_and_report",
        "Analyse a data file and write a report",
        "Analyse a data file in a sandbox and write a report with plots as a file in the sandbox.",
        (
            *_DATA,
            Parameter("report", "The file for the report, below /workspace.", "report.md", (_PATH, length(min_characters=1))),
        ),
        chain(
            _ANALYSIS,
            text(
                "When the question is answered, write the report $report in the same sandbox: the question, the answer in one "
                "sentence, the numbers and how they were computed, the plots as files next to it. Read the report again with "
                "read_file and compare every number with what the code printed."
            ),
        ),
    ),
    Prompt(
        "solve_and_test",
        "Solve and test",
        "Write a program for a task, test it, and return code that passes.",
        (
            Parameter("task", "What the program must do."),
            Parameter("language", "The language to write it in.", "python", (_WORD,)),
        ),
        text(
            "Solve this task in $language:\n\n$task\n\n"
            "1. Write down three to six tests first, with inputs at the edges: empty, smallest, largest, wrong.\n"
            "2. Write the program; it reads stdin and writes stdout unless the task says otherwise.\n"
            "3. Check it with judge_solution, or with run_code in a sandbox if it needs files.\n"
            "4. Fix it until every test passes. Return the program, the tests and its cost in time and memory."
        ),
    ),
    Prompt(
        "fix_failing_code",
        "Fix failing code",
        "Find out why code fails, fix it, and verify the fix.",
        (
            Parameter("code", "The code that fails."),
            Parameter("error", "The error message, or what is wrong.", "(unknown: run it first)"),
            _LANGUAGE,
        ),
        text(
            "This $language code fails:\n\n```$language\n$code\n```\n\nError: $error\n\n"
            "1. Create a sandbox and run the code unchanged: reproduce the failure before changing anything.\n"
            "2. Find the smallest input that still fails, and explain the cause in one sentence.\n"
            "3. Fix the cause, not the symptom; run the small input and the whole program again.\n"
            "4. Return the changed code, the cause and the output that proves the fix."
        ),
    ),
    Prompt(
        "port_code",
        "Port code to another language",
        "Port a program to another language and verify that both behave the same.",
        (
            Parameter("code", "The program."),
            _LANGUAGE,
            Parameter("target", "The target language.", None, (_WORD,)),
        ),
        text(
            "Port this $language program to $target:\n\n```$language\n$code\n```\n\n"
            "1. Create a sandbox and run it on five inputs, edge cases included; keep its output.\n"
            "2. Write it in idiomatic $target; run it on the same inputs.\n"
            "3. Compare byte for byte. Where they differ, find out which of the two is right before changing one.\n"
            "4. Return the new program and the inputs; say what could not be ported."
        ),
    ),
    Prompt(
        "make_faster",
        "Make code faster or smaller",
        "Measure a program, find its most expensive part, improve that, and measure again.",
        (
            Parameter("code", "The program."),
            _LANGUAGE,
            Parameter("goal", "What to reduce: time or memory.", "time", (form(r"(?i)time|memory", "time, or memory"),)),
        ),
        merge(
            text("This $language program uses too much $goal:\n\n```$language\n$code\n```"),
            _MEASUREMENT,
            text(
                "Find the most expensive part with a profiler, not by guessing. Change only that, run it again, and compare its "
                "output and its measurements with the previous ones. Stop when a change gains less than a tenth.\n"
                "Return the program and a table: change, before, after."
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
        raise InvalidRequest(f"unknown prompt {name[:100]!r}; available prompts: {', '.join(_BY_NAME)}")
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
