"""Reads a Language from a TOML file. An unknown, missing or malformed key raises InvalidRequest with its file and place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.language import (
    JOB_PLACEHOLDERS,
    PLACEHOLDERS,
    TOOLCHAINS,
    CheckProgram,
    Install,
    Language,
    Recipe,
)
from sandbox_runtime.languages.transforms import TRANSFORMS
from sandbox_runtime.model import File
from sandbox_runtime.validation import StrictModel, validate

_INSTALL_PLACEHOLDERS = ("toolchains", "python", "assets")
_LINK_PLACEHOLDERS = ("toolchains", "workdir")
_IN_BRACES = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z0-9_+#.-]{1,32}")
_PINNED = {
    "pip": re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+"),
    "npm": re.compile(r"(@[a-z0-9._-]+/)?[a-z0-9._-]+@[0-9][A-Za-z0-9.+-]*"),
    "maven": re.compile(r"[A-Za-z0-9._-]+:[A-Za-z0-9._-]+:[A-Za-z0-9._-]+"),
    "go": re.compile(r"[A-Za-z0-9._~/-]+@v[0-9][A-Za-z0-9.+-]*"),
}

Assets = Callable[[str, str], bytes]
"""Returns the content of an asset, by its folder and name. Raises OSError if it does not exist."""


def no_assets(folder: str, name: str) -> bytes:
    raise FileNotFoundError(f"{folder}/{name}")


def read_language(text: str, origin: str, assets: Assets = no_assets) -> Language:
    """Return the language that a TOML text declares. `origin` names the file in errors."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"language file {origin} is not valid TOML: {error}") from error
    return _to_language(validate(_LanguageTable, table, f"language file {origin}"), origin, assets)


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid name; letters, digits and _ + # . - are allowed, at most 32")
    return name


def _check_file_name(name: str) -> str:
    if "/" in name or name in (".", "..") or "\0" in name:
        raise ValueError(f"{name!r} must be a plain file name without folders")
    return name


def _check_transform(name: str) -> str:
    if name not in TRANSFORMS:
        raise ValueError(f"must be one of {', '.join(TRANSFORMS)}, not {name!r}")
    return name


Text = Annotated[StrictStr, Field(min_length=1)]
Words = tuple[Text, ...]
Argv = Annotated[Words, Field(min_length=1)]
Name = Annotated[Text, AfterValidator(_check_name)]
FileName = Annotated[Text, AfterValidator(_check_file_name)]
Positive = Annotated[StrictInt, Field(ge=1)]
RaisableLimit = Literal["processes", "open_files", "file_bytes", "output_bytes"]
"""The limits a recipe may raise. Time and memory belong to the caller, disk to the box."""


class _RunTable(StrictModel):
    argv: Argv
    env: dict[str, StrictStr] = Field(default_factory=dict)
    at_least: dict[RaisableLimit, Positive] = Field(default_factory=dict)
    together: Positive | None = None


class _CompileTable(_RunTable):
    linked: Words = ()
    cache_build: StrictBool = True


class _CheckTable(StrictModel):
    code: Text
    stdin: Text
    stdout: Text
    files: dict[str, StrictStr] = Field(default_factory=dict)
    contains: StrictBool = False


class _InstallTable(StrictModel):
    on: Words = ()
    apt: Words = ()
    apt_unless: Words = ()
    pip: Words = ()
    npm: Words = ()
    maven: Words = ()
    go: Words = ()
    after: tuple[Words, ...] = ()
    made_with: Words = ()
    folder: FileName | None = None
    megabytes: Positive | None = None
    unavailable: Text | None = None

    @model_validator(mode="after")
    def _check_packages(self) -> Self:
        for client, pinned in _PINNED.items():
            packages: Words = getattr(self, client)
            if packages and not self.folder:
                raise ValueError(f"{client} needs folder, the folder below {TOOLCHAINS} to install into")
            if loose := [package for package in packages if not pinned.fullmatch(package)]:
                raise ValueError(f"{client} must name exact versions; {loose[0]!r} does not")
        for word in (word for command in self.after for word in command):
            _check_placeholders(word, "after", _INSTALL_PLACEHOLDERS)
        return self


class _LanguageTable(StrictModel):
    name: Name
    title: Text
    source: FileName
    version: Argv
    needs: Text
    run: _RunTable
    check: _CheckTable
    compile: _CompileTable | None = None
    binary: FileName | None = None
    aliases: tuple[Name, ...] = ()
    extensions: tuple[Name, ...] = ()
    group: Literal["major", "minor", "gpu", "more"] = "more"
    warm: StrictBool = False
    install: _InstallTable = _InstallTable()
    links: dict[FileName, StrictStr] = Field(default_factory=dict)
    assets: Words = ()
    ahead: Text | None = None
    transform: Annotated[StrictStr, AfterValidator(_check_transform)] | None = None
    toolchain: StrictBool | None = None

    @model_validator(mode="after")
    def _check_words(self) -> Self:
        """Check the placeholders of all commands. The version command runs without a job, so it has no source and no binary."""
        known = PLACEHOLDERS if self.binary else tuple(name for name in PLACEHOLDERS if name != "binary")
        for word, place in self._command_words():
            _check_placeholders(word, place, known)
        if any(f"{{{name}}}" in word for word in self.version for name in JOB_PLACEHOLDERS):
            raise ValueError(f"version cannot use {_in_braces(JOB_PLACEHOLDERS)}")
        for name, target in self.links.items():
            _check_placeholders(target, f"links.{name}", _LINK_PLACEHOLDERS)
        return self

    def _command_words(self) -> Iterator[tuple[str, str]]:
        """Yield each word of the recipes with its place."""
        for name, recipe in (("compile", self.compile), ("run", self.run)):
            if recipe is not None:
                yield from ((word, f"{name}.argv") for word in recipe.argv)
                yield from ((value, f"{name}.env.{variable}") for variable, value in recipe.env.items())

    @property
    def uses_toolchains(self) -> bool:
        words = (word for word, _ in self._command_words())
        return any(TOOLCHAINS in word for word in (*words, *self.links.values(), *self.version))


def _check_placeholders(word: str, place: str, known: Iterable[str]) -> None:
    for name in _IN_BRACES.findall(word):
        if name == "binary" and name not in known:
            raise ValueError(f"{place} uses {{binary}} but the file sets no binary")
        if name not in known:
            raise ValueError(f"{place} uses {{{name}}}, which is not a placeholder; allowed: {_in_braces(known)}")


def _in_braces(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)


def _to_language(table: _LanguageTable, origin: str, assets: Assets) -> Language:
    return Language(
        name=table.name,
        title=table.title,
        aliases=table.aliases,
        extensions=table.extensions,
        group=table.group,
        source=table.source,
        binary=table.binary or "",
        version=table.version,
        needs=table.needs,
        warm=table.warm,
        compile=None if table.compile is None else _to_recipe(table.compile),
        run=_to_recipe(table.run),
        check=_to_check(table.check),
        install=_to_install(table.install),
        links=tuple(table.links.items()),
        assets=tuple(_read_asset(table.name, asset, origin, assets) for asset in table.assets),
        prestart=_read_asset(table.name, table.ahead, origin, assets) if table.ahead else None,
        transform=table.transform or "",
        toolchain=table.uses_toolchains if table.toolchain is None else table.toolchain,
        origin=origin,
    )


def _to_recipe(table: _RunTable) -> Recipe:
    return Recipe(
        argv=table.argv,
        env=tuple(table.env.items()),
        optional_link_flags=table.linked if isinstance(table, _CompileTable) else (),
        min_limits=tuple(table.at_least.items()),
        max_concurrent=table.together or 0,
        cache_build=isinstance(table, _CompileTable) and table.cache_build,
    )


def _to_check(table: _CheckTable) -> CheckProgram:
    files = tuple(File(name, text.encode()) for name, text in table.files.items())
    return CheckProgram(table.code, table.stdin, table.stdout, files, table.contains)


def _to_install(table: _InstallTable) -> Install:
    values: Mapping[str, object] = dict(table)
    return Install(**{name: value for name, value in values.items() if value is not None})  # type: ignore[arg-type]


def _read_asset(language: str, asset: str, origin: str, assets: Assets) -> File:
    """Read an asset of the language's own folder, or of another language's: "go/go.mod"."""
    folder, _, name = asset.rpartition("/")
    try:
        return File(_check_file_name(name), assets(_check_file_name(folder or language), name))
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"language file {origin}: the asset {asset!r} cannot be read: {error}") from error
