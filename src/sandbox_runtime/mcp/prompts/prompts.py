"""The prompts, and how they are told and filled in. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template

import mcp_types as types

from sandbox_runtime.errors import InvalidRequest

_MOST_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    description: str
    default: str | None = None
    """None: it must be given."""


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    text: str


PROMPTS = (
    Prompt(
        "analyse_data_file",
        "Analyse a data file",
        "Look into a data file in a sandbox and answer a question about it.",
        (
            Parameter("path", "The file, below /workspace."),
            Parameter("question", "What is wanted to be known.", "Describe the data: columns, sizes, ranges, what stands out."),
            Parameter("sandbox_id", "The sandbox; left out, a new one is made.", ""),
        ),
        "Analyse the file $path in the sandbox ${sandbox_id}.\n\nQuestion: $question\n\n"
        "1. If no sandbox is named, make one with create_sandbox and put the file into it with upload_file.\n"
        '2. Use run_code with language python and context "new", and keep the context for all further steps.\n'
        "3. Look at the head of the file and its types first; then compute what the question needs, and plot where it helps.\n"
        "4. Answer with figures that the code printed, not from memory. Name rows that were left out, and why.",
    ),
    Prompt(
        "solve_and_test",
        "Solve and test",
        "Write a program for a task, test it, and hand over code that passes.",
        (
            Parameter("task", "What the program shall do."),
            Parameter("language", "In which language.", "python"),
        ),
        "Solve this task in $language:\n\n$task\n\n"
        "1. Write down three to six tests first, with inputs at the edges: empty, smallest, largest, wrong.\n"
        "2. Write the program; it reads stdin and writes stdout unless the task says otherwise.\n"
        "3. Check it with judge_solution, or with run_code in a sandbox where it needs files.\n"
        "4. Mend it until every test passes. Hand over the program, the tests and what it costs in time and memory.",
    ),
    Prompt(
        "fix_failing_code",
        "Fix failing code",
        "Find out why code fails, mend it, and prove that it is mended.",
        (
            Parameter("code", "The code that fails."),
            Parameter("error", "What it says, or what is wrong.", "(not told: run it first)"),
            Parameter("language", "Its language.", "python"),
        ),
        "This $language code fails:\n\n```$language\n$code\n```\n\nWhat is seen: $error\n\n"
        "1. Make a sandbox and run the code as it is: the failure must be seen before anything is changed.\n"
        "2. Make the smallest input that still fails, and explain the cause in one sentence.\n"
        "3. Mend the cause, not the symptom; run the small input and the whole again.\n"
        "4. Hand over the changed code, the cause and the output that proves it.",
    ),
)
_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def listed() -> list[types.Prompt]:
    return [
        types.Prompt(
            name=prompt.name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                types.PromptArgument(name=one.name, description=one.description, required=one.default is None)
                for one in prompt.parameters
            ],
        )
        for prompt in PROMPTS
    ]


def rendered(name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
    prompt = _BY_NAME.get(name)
    if prompt is None:
        raise InvalidRequest(f"there is no prompt {name[:100]!r}; there are {', '.join(_BY_NAME)}")
    text = Template(prompt.text).substitute(_filled(prompt, arguments))
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])


def _filled(prompt: Prompt, arguments: Mapping[str, str]) -> dict[str, str]:
    known = {one.name for one in prompt.parameters}
    unknown = sorted(arguments.keys() - known)
    if unknown:
        raise InvalidRequest(f"the prompt {prompt.name} has no argument {unknown[0][:60]!r}; it has {', '.join(sorted(known))}")
    filled = {}
    for one in prompt.parameters:
        value = arguments.get(one.name, one.default)
        if value is None or (one.default is None and not value.strip()):
            raise InvalidRequest(f"the prompt {prompt.name} needs the argument {one.name}: {one.description}")
        if len(value) > _MOST_CHARACTERS:
            raise InvalidRequest(f"the argument {one.name} has more than {_MOST_CHARACTERS} characters")
        filled[one.name] = value
    return filled
