"""The generated reference pages, as Markdown. Pure: the same on every machine."""

from __future__ import annotations

from itertools import groupby

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

This page is made from the code by `sandbox docs --write`.

A value comes from the highest of these sources: a flag (`--set NAME=VALUE`, or an option of its own such as `--port`), the
environment (`{ENVIRONMENT_PREFIX}` and the name in capitals; then the names of
[control-plane deployments](../guides/control-plane.md#environment), also from a file `.env`), a TOML file, the YAML file
that `{CONFIG_VARIABLE}` names ([configuration](../guides/configuration.md)), the default. The TOML file is the one named by
`--config` or by `{FILE_VARIABLE}`, otherwise the first that exists of
{" and ".join(f"`{path}`" for path in DEFAULT_FILES)}.
`sandbox settings` prints every effective value and where it came from.

The network is off by default (`allow_network`): a program sees its own loopback and nothing else.
"""


def pages() -> dict[str, str]:
    """File name → text."""
    return {"settings.md": _settings_page(), "languages.md": languages_page(), **http_pages()}


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
