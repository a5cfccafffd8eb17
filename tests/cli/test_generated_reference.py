"""The generated pages about commands and errors: every command, every option, every error class and code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from sandbox_runtime.cli.cli_reference import cli_page
from sandbox_runtime.cli.errors_reference import ADVICE, errors_page
from sandbox_runtime.cli.exit_codes import ERROR_EXIT_CODES
from sandbox_runtime.cli.main import build
from sandbox_runtime.mcp.tools import error_codes


def commands(group: Any, prefix: str = "sandbox") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        yield f"{prefix} {name}", command
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix} {name}")


def test_every_command_is_on_the_page_with_its_help_and_options() -> None:
    page = cli_page()
    for name, command in commands(typer.main.get_command(build())):
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert section and section.startswith(command.help.split()[0]), name
        for parameter in command.params:
            assert parameter.help, f"{name} {parameter.name} has no help text"
            assert parameter.param_type_name == "argument" or all(f"`{option}`" in section for option in parameter.opts)


def test_options_show_their_bounds_and_defaults() -> None:
    page = cli_page()
    listing = page.partition("\n## sandbox session list\n")[2].partition("\n## ")[0]
    assert "| `--limit` | INTEGER, 1 to 200 | `50` | Maximum number of sessions. |" in listing
    handler = page.partition("\n## sandbox-run\n")[2]
    assert "| `--format` | pretty, json, yaml | `pretty` | output format |" in handler and "4 timeout" in handler


def test_every_error_class_is_explained_and_every_code_is_on_the_page() -> None:
    page = errors_page()
    assert set(ADVICE) == set(ERROR_EXIT_CODES)
    for kind in ADVICE:
        assert page.count(f"| `{kind.__name__}` |") >= 4, kind
    codes = [value for name, value in vars(error_codes).items() if name.isupper() and isinstance(value, str)]
    assert len(codes) > 10 and all(f"`{code}`" in page for code in codes)
