"""The generated command-line reference: every command with its arguments, options, defaults and exit codes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Any

import typer

from sandbox_runtime.cli.handler_arguments import build_parser
from sandbox_runtime.cli.handler_config import HandlerConfig
from sandbox_runtime.cli.main import build

_HEAD = """# Command line

This page is generated from the code by `sandbox docs --write`. Guide: [the command line](../guides/cli.md). Exit codes of errors:
[errors](errors.md#exit-codes). Every command has `--help`.

`mcp-sandboxd` is the same command as [`sandbox mcp`](#sandbox-mcp).
"""
_ARGUMENTS = "\n| argument | |\n|---|---|\n"
_TYPE_NAMES = {"str": "TEXT", "int": "INTEGER", "float": "NUMBER", "path": "PATH"}
_OPTIONS = "\n| option | value | default | |\n|---|---|---|---|\n"


def cli_page() -> str:
    sections = [_section(f"sandbox {name}", command) for name, command in _walk(typer.main.get_command(build()))]
    return _HEAD + "".join(sections) + _handler_section()


def _walk(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command below a group with its full name, sorted."""
    for name, command in sorted(group.commands.items()):
        yield f"{prefix}{name}", command
        if hasattr(command, "commands"):
            yield from _walk(command, f"{prefix}{name} ")


def _section(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = " ".join([name, *(["[OPTIONS]"] if options else []), *map(_metavar, arguments), *_subcommand(command)])
    rows = [f"| `{_metavar(argument)}` | {_cell(argument.help)} |\n" for argument in arguments]
    tables = _table(_ARGUMENTS, rows) + _table(_OPTIONS, map(_option, options))
    epilog = f"\n{_line(command.epilog)}\n" if command.epilog else ""
    return f"\n## {name}\n{_line(command.help)}\n\n```\n{usage}\n```\n{tables}{epilog}"


def _subcommand(command: Any) -> list[str]:
    if not hasattr(command, "commands"):
        return []
    return ["[COMMAND]" if command.invoke_without_command else "COMMAND"]


def _metavar(argument: Any) -> str:
    """Return the name of an argument, in brackets if it is optional."""
    name = argument.metavar or argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    variable = f" Environment: `{option.envvar}`." if option.envvar else ""
    return f"| {names} | {_value(option)} | {_default(option.default)} | {_cell(option.help)}{variable} |\n"


def _value(option: Any) -> str:
    if option.is_flag:
        return ""
    name = option.metavar or _TYPE_NAMES[option.bare_type().lower().removeprefix("list[").removesuffix("]")]
    if option.min is None and option.max is None:
        return _cell(name)
    return f"{name}, from {option.min}" if option.max is None else f"{name}, {option.min} to {option.max}"


def _default(value: object) -> str:
    return "" if value is None or value is False or value == "" else f"`{value}`"


def _table(head: str, rows: Iterable[str]) -> str:
    body = "".join(rows)
    return head + body if body else ""


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def _cell(text: str | None) -> str:
    return _line(text).replace("|", "\\|")


def _handler_section() -> str:
    """Return the section of `sandbox-run`, which uses argparse."""
    parser = build_parser(HandlerConfig())
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    arguments = [action for action in actions if not action.option_strings]
    options = [action for action in actions if action.option_strings]
    usage = " ".join([parser.prog, "[OPTIONS]", *(action.dest.upper() for action in arguments)])
    rows = [f"| `{action.dest.upper()}` | {_cell(action.help)} |\n" for action in arguments]
    tables = _table(_ARGUMENTS, rows) + _table(_OPTIONS, map(_handler_option, options))
    return f"\n## sandbox-run\n{parser.description}\n\n```\n{usage}\n```\n{tables}\n{_line(parser.epilog).capitalize()}.\n"


def _handler_option(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    choices = ", ".join(map(str, action.choices or ()))
    value = "" if action.nargs == 0 else choices or str(action.metavar or "NUMBER")
    default = "" if action.nargs == 0 else _default(action.default)
    return f"| {names} | {value} | {default} | {_cell(action.help).partition(' (default')[0]} |\n"
