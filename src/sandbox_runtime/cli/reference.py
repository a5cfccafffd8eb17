"""The generated reference pages in Markdown. They are the same on every machine."""

from __future__ import annotations

from itertools import groupby

from sandbox_runtime.cli.cli_reference import cli_page
from sandbox_runtime.cli.errors_reference import errors_page
from sandbox_runtime.cli.http_reference import http_pages
from sandbox_runtime.cli.languages_reference import languages_page
from sandbox_runtime.settings import (
    CONFIG_VARIABLE,
    DEFAULT_FILES,
    ENVIRONMENT_PREFIX,
    FILE_VARIABLE,
    all_settings,
    default_text,
    environment_name,
    type_name,
)

_NOTHING = "none"
_SETTINGS_HEAD = f"""# Settings

This page is generated from the code by `sandbox docs --write`.

A value comes from the first of these sources that sets it:

1. an option: `--set NAME=VALUE`, or a dedicated one such as `--port`;
2. the environment: `{ENVIRONMENT_PREFIX}` and the name in capitals, then the names of
   [control-plane deployments](../guides/control-plane.md#environment), also from a file `.env`;
3. a TOML file: that of `--config` or `{FILE_VARIABLE}`, else the first existing of
   {", ".join(f"`{path}`" for path in DEFAULT_FILES)};
4. the YAML file of `{CONFIG_VARIABLE}` ([configuration](../guides/configuration.md));
5. the default.

`sandbox settings` prints every effective value and its source.

The network is off by default (`allow_network`): a program can reach its own loopback only.
"""


def generate_pages() -> dict[str, str]:
    """Return the pages by file name."""
    pages = {"cli.md": cli_page(), "errors.md": errors_page(), "languages.md": languages_page(), "settings.md": _settings_page()}
    return pages | http_pages()


def _settings_page() -> str:
    grouped = groupby(all_settings(), key=lambda name: all_settings()[name].group)
    return _SETTINGS_HEAD + "".join(_settings_table(group, list(names)) for group, names in grouped)


def _settings_table(group: str, names: list[str]) -> str:
    head = f"\n## {group.capitalize()}\n| setting | environment | default | type, unit | what it does |\n|---|---|---|---|---|\n"
    return head + "".join(f"{_settings_row(name)}\n" for name in names)


def _settings_row(name: str) -> str:
    about = all_settings()[name]
    default = _NOTHING if default_text(name) == "``" else default_text(name)
    choices = f" One of {', '.join(f'`{choice}`' for choice in about.choices)}." if about.choices else ""
    return (
        f"| `{name}` | `{environment_name(name)}` | {default} | {type_name(name)}, {about.unit} | {about.description}{choices} |"
    )
