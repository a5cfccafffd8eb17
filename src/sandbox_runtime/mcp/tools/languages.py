"""The run_<language> tools. They share their arguments; options and default timeout depend on the language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from sandbox_runtime.languages.detection import detect_language
from sandbox_runtime.mcp.hosts.port import WORKSPACE
from sandbox_runtime.mcp.tools import run
from sandbox_runtime.mcp.tools.arguments import Code, Environment, LanguageName, SandboxId, Timeout, WorkingDir, resolve_folder
from sandbox_runtime.mcp.tools.packages import Packages
from sandbox_runtime.mcp.tools.programs import Program, run_program
from sandbox_runtime.mcp.tools.run import RunResult
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Tool, ToolContext, ToolResponse

_Flag = Literal["true", "false"] | bool
_Text = Annotated[str, Field(max_length=2000)]
_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{1,60}$")]
_Words = Annotated[list[_Word], Field(max_length=50)]


@dataclass(frozen=True, slots=True)
class LanguageTool:
    language: str
    title: str
    timeout_s: int
    options: Mapping[str, Any]
    script_options: frozenset[str] = frozenset()
    """Options that take effect through a launch script."""
    ignored_options: frozenset[str] = frozenset()
    """Options about versions. The host has one version of each; the result notes that."""
    always_script: bool = False
    """Use a launch script even without options."""


LANGUAGE_TOOLS = (
    LanguageTool(
        "python",
        "Python",
        60,
        {"use_venv": _Flag, "python_cmd": _Word, "user": _Flag, "upgrade": _Flag},
        frozenset({"use_venv", "python_cmd"}),
    ),
    LanguageTool(
        "javascript",
        "JavaScript",
        30,
        {"node_version": _Word, "use_typescript": _Flag},
        ignored_options=frozenset({"node_version"}),
    ),
    LanguageTool(
        "typescript", "TypeScript", 45, {"target": _Word, "tsconfig": _Text}, frozenset({"target"}), frozenset({"tsconfig"})
    ),
    LanguageTool(
        "go",
        "Go",
        30,
        {"go_version": _Word, "build_flags": _Text, "module_name": _Word},
        frozenset({"build_flags"}),
        frozenset({"go_version", "module_name"}),
    ),
    LanguageTool("rust", "Rust", 120, {"edition": _Word, "release": _Flag, "features": _Words}, always_script=True),
    LanguageTool(
        "java",
        "Java",
        60,
        {"java_version": _Word, "main_class": _Word, "classpath": _Text, "build_tool": Literal["maven", "gradle"]},
        frozenset({"main_class", "classpath"}),
        frozenset({"java_version", "build_tool"}),
    ),
    LanguageTool(
        "cpp",
        "C++",
        45,
        {
            "std": _Word,
            "compiler": Literal["g++", "clang++"],
            "optimization": Literal["O0", "O1", "O2", "O3"],
            "extra_flags": _Text | _Words,
        },
        always_script=True,
    ),
    LanguageTool(
        "csharp",
        "C#",
        45,
        {"framework": _Word, "nullable": Literal["enable", "disable"], "implicit_usings": _Flag},
        ignored_options=frozenset({"framework", "nullable", "implicit_usings"}),
    ),
    LanguageTool(
        "shell",
        "a shell script",
        30,
        {"shell": Literal["bash", "sh", "zsh", "fish"], "set_flags": Annotated[str, Field(pattern=r"^[-+a-z ]{1,60}$")]},
        frozenset({"shell", "set_flags"}),
    ),
)
_BY_LANGUAGE = {tool.language: tool for tool in LANGUAGE_TOOLS}
_NAMES = {"bash": "shell", "sh": "shell", "c": "cpp"}


class LanguageArguments(Arguments):
    sandbox_id: SandboxId
    code: Code
    packages: Packages = Field(default_factory=list)
    files: Annotated[
        dict[Annotated[str, Field(min_length=1, max_length=1024)], str],
        Field(description="Files to write next to the program: name → text."),
    ] = Field(default_factory=dict)
    environment: Environment = Field(default_factory=dict)
    working_dir: WorkingDir = WORKSPACE
    timeout: Timeout = None
    stdin: Annotated[str | None, Field(max_length=8 * 1024**2, description="Standard input of the program.")] = None


class GenericArguments(LanguageArguments):
    language: Annotated[LanguageName | None, Field(description="Detected from the code if omitted.")] = None
    options: Annotated[dict[str, Any], Field(max_length=20, description="Options of the language's run_ tool.")] = Field(
        default_factory=dict
    )


def make_arguments(tool: LanguageTool) -> type[LanguageArguments]:
    fields: dict[str, Any] = {name: (kind | None, None) for name, kind in tool.options.items()}
    options = create_model(f"{tool.language.title()}Options", __base__=Arguments, **fields)
    return create_model(
        f"Run{tool.language.title()}Arguments",
        __base__=LanguageArguments,
        options=(options, Field(default_factory=options, description="How to build and run the program.")),
    )


async def run_language(ctx: ToolContext, arguments: Any, tool: LanguageTool) -> ToolResponse:
    options = {name: value for name, value in arguments.options.model_dump().items() if value is not None}
    return await _run(ctx, arguments, tool, options)


async def run_generic(ctx: ToolContext, arguments: GenericArguments) -> ToolResponse:
    language = arguments.language or detect_language(arguments.code)
    tool = _BY_LANGUAGE[_NAMES.get(language, language)]
    options_model = make_arguments(tool).model_fields["options"].annotation
    assert options_model is not None
    options = options_model.model_validate(arguments.options).model_dump()
    return await _run(ctx, arguments, tool, {name: value for name, value in options.items() if value is not None})


async def _run(ctx: ToolContext, arguments: LanguageArguments, tool: LanguageTool, options: dict[str, Any]) -> ToolResponse:
    language, needs_script = _run_mode(tool, options)
    program = Program(
        sandbox_id=arguments.sandbox_id.lower(),
        language=language,
        code=arguments.code,
        timeout_s=arguments.timeout or tool.timeout_s,
        folder=resolve_folder(arguments.working_dir),
        needs_script=needs_script,
        options=options,
        files=arguments.files,
        packages=arguments.packages,
        env=arguments.environment,
        stdin=arguments.stdin,
    )
    outcome, command = await run_program(ctx, program)
    notes = [_note(name, options[name]) for name in tool.ignored_options & options.keys()]
    max_bytes = ctx.config.tools.max_output_size
    result = run.to_result(
        outcome,
        program.sandbox_id,
        max_bytes,
        language=tool.language,
        working_dir=program.folder,
        command=command,
        notes=sorted(notes),
    )
    facts = {
        "Exit Code": outcome.exit_code if outcome.exit_code else None,
        "Duration": f"{outcome.wall_s * 1000:.1f}ms",
        "Language": tool.language,
        "Command": command,
    }
    error = run.error_code(outcome, language)
    response = run.to_response(outcome, result, run.render_text(facts, result), error)
    return ToolResponse(response.text, result, {**response.metadata, "language": tool.language}, error)


def _note(name: str, value: object) -> str:
    if name == "build_tool":
        return f"build_tool {value!r} ignored: packages come from Maven repositories, and javac builds the program"
    return f"{name} {value!r} ignored: the host has one version"


def _run_mode(tool: LanguageTool, options: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the host's name of the language, and whether the options need a launch script."""
    if tool.language == "javascript" and options.get("use_typescript") in (True, "true"):
        return "typescript", False
    if tool.language == "shell":
        shell = options.get("shell", "bash")
        if shell in ("zsh", "fish") and "set_flags" not in options:
            return shell, False
        return "shell", shell != "bash" or "set_flags" in options
    needed = {name for name in tool.script_options & options.keys() if options[name] not in (False, "false")}
    return tool.language, tool.always_script or bool(needed)


def _tool(tool: LanguageTool) -> AnyTool:
    return Tool(
        f"run_{tool.language}",
        f"Run {tool.title}",
        f"Runs {tool.title} in a sandbox, optionally with files and packages, and returns the output and exit code. "
        f"The default timeout is {tool.timeout_s} seconds.",
        make_arguments(tool),
        RunResult,
        partial(run_language, tool=tool),
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    )


TOOLS: tuple[AnyTool, ...] = (
    *(_tool(tool) for tool in LANGUAGE_TOOLS),
    Tool(
        "run_generic",
        "Run code in any language",
        "Runs code like the run_ tool of its language. The language is detected from the code if omitted.",
        GenericArguments,
        RunResult,
        run_generic,
        {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False},
    ),
)
