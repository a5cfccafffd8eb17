"""The run_<language> tools. One form of arguments; each language has its own options and usual time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from sandbox_runtime.languages.detection import language_of
from sandbox_runtime.mcp.hosts.port import WORKSPACE
from sandbox_runtime.mcp.tools import run
from sandbox_runtime.mcp.tools.arguments import Code, Environment, Languages, SandboxId, Timeout, WorkingDir, folder_of
from sandbox_runtime.mcp.tools.packages import Packages
from sandbox_runtime.mcp.tools.programs import Program, run_program
from sandbox_runtime.mcp.tools.run import RunResult
from sandbox_runtime.mcp.tools.tool import Answer, AnyTool, Arguments, Call, Tool

_Flag = Literal["true", "false"] | bool
_Text = Annotated[str, Field(max_length=2000)]
_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{1,60}$")]
_Words = Annotated[list[_Word], Field(max_length=50)]


@dataclass(frozen=True, slots=True)
class Form:
    """by_line: options that a script honours. noted: options about versions; the host has one of each, and says so."""

    language: str
    title: str
    timeout_s: int
    options: Mapping[str, Any]
    by_line: frozenset[str] = frozenset()
    noted: frozenset[str] = frozenset()
    always_by_line: bool = False


FORMS = (
    Form(
        "python",
        "Python",
        60,
        {"use_venv": _Flag, "python_cmd": _Word, "user": _Flag, "upgrade": _Flag},
        frozenset({"use_venv", "python_cmd"}),
    ),
    Form("javascript", "JavaScript", 30, {"node_version": _Word, "use_typescript": _Flag}, noted=frozenset({"node_version"})),
    Form("typescript", "TypeScript", 45, {"target": _Word, "tsconfig": _Text}, frozenset({"target"}), frozenset({"tsconfig"})),
    Form(
        "go",
        "Go",
        30,
        {"go_version": _Word, "build_flags": _Text, "module_name": _Word},
        frozenset({"build_flags"}),
        frozenset({"go_version", "module_name"}),
    ),
    Form("rust", "Rust", 120, {"edition": _Word, "release": _Flag, "features": _Words}, always_by_line=True),
    Form(
        "java",
        "Java",
        60,
        {"java_version": _Word, "main_class": _Word, "classpath": _Text, "build_tool": Literal["maven", "gradle"]},
        frozenset({"main_class", "classpath"}),
        frozenset({"java_version", "build_tool"}),
    ),
    Form(
        "cpp",
        "C++",
        45,
        {
            "std": _Word,
            "compiler": Literal["g++", "clang++"],
            "optimization": Literal["O0", "O1", "O2", "O3"],
            "extra_flags": _Text | _Words,
        },
        always_by_line=True,
    ),
    Form(
        "csharp",
        "C#",
        45,
        {"framework": _Word, "nullable": Literal["enable", "disable"], "implicit_usings": _Flag},
        noted=frozenset({"framework", "nullable", "implicit_usings"}),
    ),
    Form(
        "shell",
        "a shell script",
        30,
        {"shell": Literal["bash", "sh", "zsh", "fish"], "set_flags": Annotated[str, Field(pattern=r"^[-+a-z ]{1,60}$")]},
        frozenset({"shell", "set_flags"}),
    ),
)
_FORMS = {form.language: form for form in FORMS}
_NAMES = {"bash": "shell", "sh": "shell", "c": "cpp"}


class LanguageArguments(Arguments):
    sandbox_id: SandboxId
    code: Code
    packages: Packages = Field(default_factory=list)
    files: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=1024)], str],
        Field(description="Files to place beside it: name → text."),
    ] = Field(default_factory=dict)
    environment: Environment = Field(default_factory=dict)
    working_dir: WorkingDir = WORKSPACE
    timeout: Timeout = None
    stdin: Annotated[str | None, Field(max_length=8 * 1024**2, description="What the program reads from its standard input.")] = (
        None
    )


class GenericArguments(LanguageArguments):
    language: Annotated[Languages | None, Field(description="Found out from the code where it is left out.")] = None
    options: Annotated[dict[str, Any], Field(max_length=20, description="Those of the language's own tool.")] = Field(
        default_factory=dict
    )


def arguments_of(form: Form) -> type[LanguageArguments]:
    fields: dict[str, Any] = {name: (kind | None, None) for name, kind in form.options.items()}
    options = create_model(f"{form.language.title()}Options", __base__=Arguments, **fields)
    return create_model(
        f"Run{form.language.title()}Arguments",
        __base__=LanguageArguments,
        options=(options, Field(default_factory=options, description="Wishes about how it is built and run.")),
    )


async def run_one(call: Call, asked: Any, form: Form) -> Answer:
    options = {name: value for name, value in asked.options.model_dump().items() if value is not None}
    return await _run(call, asked, form, options)


async def run_generic(call: Call, asked: GenericArguments) -> Answer:
    found = asked.language or language_of(asked.code)
    form = _FORMS[_NAMES.get(found, found)]
    taken = arguments_of(form).model_fields["options"].annotation
    assert taken is not None
    options = taken.model_validate(asked.options).model_dump()
    return await _run(call, asked, form, {name: value for name, value in options.items() if value is not None})


async def _run(call: Call, asked: LanguageArguments, form: Form, options: dict[str, Any]) -> Answer:
    language, by_line = _way(form, options)
    program = Program(
        sandbox_id=asked.sandbox_id.lower(),
        language=language,
        code=asked.code,
        timeout_s=asked.timeout or form.timeout_s,
        folder=folder_of(asked.working_dir),
        by_line=by_line,
        options=options,
        files=asked.files,
        packages=asked.packages,
        env=asked.environment,
        stdin=asked.stdin,
    )
    ran, command = await run_program(call, program)
    notes = [_note(name, options[name]) for name in form.noted & options.keys()]
    most = call.config.tools.max_output_size
    result = run.result_of(
        ran, program.sandbox_id, most, language=form.language, working_dir=program.folder, command=command, notes=sorted(notes)
    )
    facts = {
        "Exit Code": ran.exit_code if ran.exit_code else None,
        "Duration": f"{ran.wall_s * 1000:.1f}ms",
        "Language": form.language,
        "Command": command,
    }
    error = run.error_of(ran, language)
    answer = run.told(ran, result, run.lines_of(facts, result), error)
    return Answer(answer.text, result, {**answer.metadata, "language": form.language}, error)


def _note(name: str, value: object) -> str:
    if name == "build_tool":
        return f"build_tool {value!r} was asked for; packages are those of Maven's repositories, and javac builds the program"
    return f"{name} {value!r} was asked for; the host has one version, which ran it"


def _way(form: Form, options: Mapping[str, Any]) -> tuple[str, bool]:
    """The language as the host names it, and whether a script is needed for the options."""
    if form.language == "javascript" and options.get("use_typescript") in (True, "true"):
        return "typescript", False
    if form.language == "shell":
        shell = options.get("shell", "bash")
        if shell in ("zsh", "fish") and "set_flags" not in options:
            return shell, False
        return "shell", shell != "bash" or "set_flags" in options
    needed = {name for name in form.by_line & options.keys() if options[name] not in (False, "false")}
    return form.language, form.always_by_line or bool(needed)


def _tool(form: Form) -> AnyTool:
    return Tool(
        f"run_{form.language}",
        f"Run {form.title}",
        f"Runs {form.title} in a sandbox, with files beside it and packages for it, and tells what it printed and how it ended. "
        f"It is stopped after {form.timeout_s} seconds unless timeout says otherwise.",
        arguments_of(form),
        RunResult,
        partial(run_one, form=form),
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    )


TOOLS: tuple[AnyTool, ...] = (
    *(_tool(form) for form in FORMS),
    Tool(
        "run_generic",
        "Run code of any language",
        "As the run_ tool of its language, which is found out from the code where it is not named.",
        GenericArguments,
        RunResult,
        run_generic,
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    ),
)
