"""The generated reference pages, as Markdown. Pure: the same on every machine."""

from __future__ import annotations

from itertools import groupby

from sandbox_runtime.languages import Language, load_catalog
from sandbox_runtime.settings import (
    CONFIG_VARIABLE,
    ENVIRONMENT_PREFIX,
    FILE_VARIABLE,
    FILES_LOOKED_FOR,
    default_text,
    environment_name,
    kind,
    knobs,
)

_NOTHING = "none"
_SETTINGS_HEAD = f"""# Settings

This page is made from the code by `sandbox docs --write`.

A value comes from the highest of these sources: a flag (`--set NAME=VALUE`, or an option of its own such as `--port`), the
environment (`{ENVIRONMENT_PREFIX}` and the name in capitals), a TOML file, the YAML file that `{CONFIG_VARIABLE}` names
([configuration](../guides/configuration.md)), the default. The TOML file is the one named by `--config` or by `{FILE_VARIABLE}`,
otherwise the first that exists of {" and ".join(f"`{path}`" for path in FILES_LOOKED_FOR)}.
`sandbox settings` prints every effective value and where it came from.

The network is off by default (`allow_network`): a program sees its own loopback and nothing else.
"""
_LANGUAGES_HEAD = """# Languages

This page is made from the catalog by `sandbox docs --write`. A language is one TOML file; your own go into the folder that the
setting `languages_dir` names. A language is offered when its check program, which echoes its input, works on the host.

| name | also called | files | source | compile | run | needs |
|---|---|---|---|---|---|---|
"""
_LANGUAGES_TAIL = """
`[…]`: those of these flags that link on the host. `{python}` is the interpreter that the setting `guest_python` names.

## A file of your own
```toml
name = "awk"
title = "AWK"
aliases = ["gawk"]
extensions = ["awk"]
source = "main.awk"
version = ["awk", "--version"]
needs = "awk (Debian: apt install gawk)"

[run]
argv = ["awk", "-f", "{source}"]
env = { LC_ALL = "C.UTF-8" }
at_least = { processes = 32 }

[check] code = "{ print }" stdin = "hello\\n" stdout = "hello\\n" ``` A `[compile]` table has the same keys as `[run]`, and
`linked` for flags that are used only where they link; `binary` names what it makes. Placeholders are `{source}`, `{binary}`,
`{python}` and `{workdir}`. `at_least` lifts limits that are too small for the toolchain itself: `processes`, `open_files`,
`file_bytes`, `output_bytes`.
"""


def pages() -> dict[str, str]:
    """File name → text."""
    return {"settings.md": _settings_page(), "languages.md": _languages_page()}


def _settings_page() -> str:
    grouped = groupby(knobs(), key=lambda name: knobs()[name].group)
    return _SETTINGS_HEAD + "".join(_settings_table(group, list(names)) for group, names in grouped)


def _settings_table(group: str, names: list[str]) -> str:
    head = f"\n## {group.capitalize()}\n| setting | environment | default | type, unit | what it does |\n|---|---|---|---|---|\n"
    return head + "".join(f"{_settings_row(name)}\n" for name in names)


def _settings_row(name: str) -> str:
    about = knobs()[name]
    default = _NOTHING if default_text(name) == "``" else default_text(name)
    choices = f" One of {', '.join(f'`{choice}`' for choice in about.choices)}." if about.choices else ""
    return f"| `{name}` | `{environment_name(name)}` | {default} | {kind(name)}, {about.unit} | {about.text}{choices} |"


def _languages_page() -> str:
    return _LANGUAGES_HEAD + "".join(f"{_language_row(language)}\n" for language in load_catalog()) + _LANGUAGES_TAIL


def _language_row(language: Language) -> str:
    compiling = _NOTHING
    if language.compile:
        flags = f" [{' '.join(language.compile.linked)}]" if language.compile.linked else ""
        compiling = f"`{' '.join(language.compile.argv)}{flags}`"
    also = ", ".join(f"`{alias}`" for alias in language.aliases) or _NOTHING
    ends = " ".join(f"`.{end}`" for end in language.extensions) or _NOTHING
    run = f"`{' '.join(language.run.argv)}`"
    return f"| `{language.name}` | {also} | {ends} | `{language.source}` | {compiling} | {run} | {language.needs} |"
