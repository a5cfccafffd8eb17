"""The generated page about languages. Pure: the same on every machine."""

from __future__ import annotations

from sandbox_runtime.languages import Language, Recipe, load_catalog
from sandbox_runtime.languages.language import GROUPS

_HEAD = """# Languages

This page is made from the catalog by `sandbox docs --write`.

A language is offered where its check program, which echoes its input, works on the host; `sandbox languages` and `GET /languages`
tell which do, in which version, and what the others lack. `sandbox languages install NAME…` brings toolchains: names, the groups
below, or `all`; `make languages` is short for the groups major and minor. How to add one of your own:
[add a language](../guides/add-a-language.md).
"""
_ABOUT = {
    "major": "Those that most programs are written in.",
    "minor": "Further ones that are asked for often.",
    "gpu": "Projects that need a graphics card; they are brought in the files of the request, and the code is not looked at.",
    "more": "Beyond those.",
}
_TITLES = "\n| name | language | also called | files | comes from |\n|---|---|---|---|---|\n"
_COMMANDS = """
## Commands
What is started, word by word. `{source}` is the program, `{stem}` the same without its extension, `{binary}` what a compile step
makes, `{main}` the class or object found in the code, `{jars}` the jars among the files of the request, `{python}` the
interpreter that the setting `guest_python` names, `{toolchains}` the folder of the setting `toolchains_dir`. Flags in `[…]` are
used where they link on the host.
"""
_CLIENTS = ("apt", "pip", "npm", "maven", "go")


def languages_page() -> str:
    languages = list(load_catalog())
    groups = "".join(_group(name, [one for one in languages if one.group == name]) for name in GROUPS)
    return _HEAD + groups + _COMMANDS + "".join(_commands(language) for language in languages)


def _group(name: str, languages: list[Language]) -> str:
    rows = "".join(_row(language) for language in languages)
    return f"\n## {name.capitalize()}\n{_ABOUT[name]}\n{_TITLES}{rows}" if languages else ""


def _row(language: Language) -> str:
    also = ", ".join(f"`{alias}`" for alias in language.aliases)
    ends = " ".join(f"`.{end}`" for end in language.extensions)
    return f"| `{language.name}` | {language.title} | {also} | {ends} | {_route(language)} |\n"


def _route(language: Language) -> str:
    install = language.install
    if install.unavailable:
        return f"no route here: {install.unavailable}"
    packages = [f"{client} {' '.join(f'`{_plain(one)}`' for one in getattr(install, client))}" for client in _CLIENTS]
    found = [text for text in packages if "`" in text]
    found += [f"the toolchain of `{base}`" for base in install.on]
    return "; ".join(found) or language.needs


def _plain(package: str) -> str:
    """A bar would end the cell of the table."""
    return package.replace(" | ", " or ")


def _commands(language: Language) -> str:
    steps = [("compile", language.compile), ("run", language.run)]
    lines = "".join(_command(name, recipe) for name, recipe in steps if recipe is not None)
    return f"\n### {language.name}\nThe code goes into `{language.source}`. It needs {language.needs}.\n```\n{lines}```\n"


def _command(name: str, recipe: Recipe) -> str:
    flags = f" [{' '.join(recipe.optional_link_flags)}]" if recipe.optional_link_flags else ""
    return f"{name}: {' '.join(recipe.argv)}{flags}\n"
