"""The generated language reference."""

from __future__ import annotations

from sandbox_runtime.languages import Language, Recipe, load_catalog
from sandbox_runtime.languages.language import GROUPS

_HEAD = """# Languages

This page is generated from the catalog by `sandbox docs --write`.

A language is available if its check program, which echoes its input, works on the host. `sandbox languages` and `GET /languages`
list which do, their versions, and what the others need. `sandbox languages install NAME…` installs toolchains by name, by group
(below) or `all`; `make languages` installs the groups major and minor. To add a language:
[add a language](../guides/add-a-language.md).
"""
_ABOUT = {
    "major": "The most common languages.",
    "minor": "Other frequently used languages.",
    "gpu": "Projects that need a GPU. The request's files contain the project; the code is ignored.",
    "more": "All others.",
}
_TITLES = "\n| name | language | aliases | files | installed from |\n|---|---|---|---|---|\n"
_COMMANDS = """
## Commands
The commands that compile and run a program. `{source}` is the source file, `{stem}` its name without extension, `{binary}` the
output of the compile step, `{main}` the class or object found in the code, `{jars}` the jars among the request's files,
`{python}` the interpreter of the setting `guest_python`, `{toolchains}` the folder of the setting `toolchains_dir`. Flags in
`[…]` are used if they link on the host.
"""
_CLIENTS = ("apt", "pip", "npm", "maven", "go")


def languages_page() -> str:
    languages = list(load_catalog())
    groups = "".join(_group(name, [language for language in languages if language.group == name]) for name in GROUPS)
    return _HEAD + groups + _COMMANDS + "".join(_commands(language) for language in languages)


def _group(name: str, languages: list[Language]) -> str:
    rows = "".join(_row(language) for language in languages)
    return f"\n## {name.capitalize()}\n{_ABOUT[name]}\n{_TITLES}{rows}" if languages else ""


def _row(language: Language) -> str:
    aliases = ", ".join(f"`{alias}`" for alias in language.aliases)
    extensions = " ".join(f"`.{extension}`" for extension in language.extensions)
    return f"| `{language.name}` | {language.title} | {aliases} | {extensions} | {_source(language)} |\n"


def _source(language: Language) -> str:
    install = language.install
    if install.unavailable:
        return f"not installable: {install.unavailable}"
    packages = [f"{client} {' '.join(f'`{_cell(name)}`' for name in getattr(install, client))}" for client in _CLIENTS]
    sources = [text for text in packages if "`" in text]
    sources += [f"the toolchain of `{base}`" for base in install.on]
    return "; ".join(sources) or language.needs


def _cell(package: str) -> str:
    """Replace the bar, which would end the table cell."""
    return package.replace(" | ", " or ")


def _commands(language: Language) -> str:
    steps = [("compile", language.compile), ("run", language.run)]
    lines = "".join(_command(name, recipe) for name, recipe in steps if recipe is not None)
    return f"\n### {language.name}\nSource file: `{language.source}`. Needs {language.needs}.\n```\n{lines}```\n"


def _command(name: str, recipe: Recipe) -> str:
    flags = f" [{' '.join(recipe.optional_link_flags)}]" if recipe.optional_link_flags else ""
    return f"{name}: {' '.join(recipe.argv)}{flags}\n"
