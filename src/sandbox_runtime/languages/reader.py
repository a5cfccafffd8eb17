"""From a TOML text to a Language, strictly: whatever is unknown, missing or of the wrong shape is refused with the place
named."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.fields import Fields, path
from sandbox_runtime.languages.language import (
    GROUPS,
    JOB_PLACEHOLDERS,
    PLACEHOLDERS,
    RAISABLE_LIMITS,
    CheckProgram,
    Install,
    Language,
    Recipe,
)
from sandbox_runtime.languages.transforms import TRANSFORMS
from sandbox_runtime.model import File

PLACEHOLDER = re.compile(r"\{([a-z]+)\}")
TOOLCHAINS = "{toolchains}"
INSTALL_PLACEHOLDERS = ("toolchains", "python", "assets")
_LOOKS_LIKE_ONE = re.compile(r"\{([^{}]*)\}")
_TOP = frozenset(
    {"name", "title", "aliases", "extensions", "source", "binary", "version", "needs", "warm", "compile", "run", "check"}
    | {"group", "install", "links", "assets", "transform", "toolchain", "ahead"}
)
_RUN = frozenset({"argv", "env", "at_least", "together"})
_COMPILE = _RUN | {"linked", "cache_build"}
_PACKAGES = ("apt", "pip", "npm", "maven", "go")
_PINNED = {
    "pip": re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+"),
    "npm": re.compile(r"(@[a-z0-9._-]+/)?[a-z0-9._-]+@[0-9][A-Za-z0-9.+-]*"),
    "maven": re.compile(r"[A-Za-z0-9._-]+:[A-Za-z0-9._-]+:[A-Za-z0-9._-]+"),
    "go": re.compile(r"[A-Za-z0-9._~/-]+@v[0-9][A-Za-z0-9.+-]*"),
}
_INSTALL = frozenset({*_PACKAGES, "on", "apt_unless", "after", "made_with", "folder", "megabytes", "unavailable"})

Assets = Callable[[str, str], bytes]
"""The content of an asset, by the folder it lies in and its name. Raises OSError where there is none."""


def no_assets(folder: str, name: str) -> bytes:
    raise FileNotFoundError(f"{folder}/{name}")


def read_language(text: str, origin: str, assets: Assets = no_assets) -> Language:
    """origin names the file in every error."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"language file {origin} is not valid TOML: {error}") from error
    return _Reader(origin, assets).language(table)


class _Reader:
    def __init__(self, origin: str, assets: Assets) -> None:
        self._fields = Fields(origin)
        self._content = assets

    def language(self, table: Mapping[str, Any]) -> Language:
        fields = self._fields
        fields.only(table, _TOP, "")
        binary = fields.text_or_none(table, "binary", "")
        name = fields.plain_name(fields.text(table, "name", ""), "name")
        compiling = self._recipe(table["compile"], "compile", binary) if "compile" in table else None
        running = self._recipe(fields.need(table, "run", ""), "run", binary)
        links = self._links(table)
        return Language(
            name=name,
            title=fields.text(table, "title", ""),
            aliases=tuple(fields.plain_name(alias, "aliases") for alias in fields.words(table, "aliases", "")),
            extensions=tuple(fields.plain_name(end, "extensions") for end in fields.words(table, "extensions", "")),
            group=fields.one_of(table, "group", GROUPS, "more"),
            source=fields.plain_file(fields.text(table, "source", "")),
            binary=fields.plain_file(binary) if binary else "",
            version=self._version(table),
            needs=fields.text(table, "needs", ""),
            warm=fields.flag(table, "warm", ""),
            compile=compiling,
            run=running,
            check=self._check(fields.need(table, "check", "")),
            install=self._install(table.get("install", {})),
            links=links,
            assets=tuple(self._asset(name, asset) for asset in fields.words(table, "assets", "")),
            prestart=self._asset(name, fields.text(table, "ahead", "")) if "ahead" in table else None,
            transform=fields.one_of(table, "transform", TRANSFORMS, ""),
            toolchain=fields.flag(table, "toolchain", "", _sees_toolchains(table, compiling, running, links)),
            origin=fields.origin,
        )

    def _recipe(self, table: Any, place: str, binary: str) -> Recipe:
        fields = self._fields
        fields.table(table, place)
        fields.only(table, _COMPILE if place == "compile" else _RUN, place)
        return Recipe(
            argv=self._argv(table, "argv", place, binary),
            env=self._env(table, place, binary),
            optional_link_flags=fields.words(table, "linked", place),
            min_limits=self._raised(table, place),
            max_concurrent=fields.number(table, "together", place),
            cache_build=fields.flag(table, "cache_build", place, place == "compile"),
        )

    def _raised(self, table: Mapping[str, Any], place: str) -> tuple[tuple[str, int], ...]:
        place = f"{place}.at_least"
        raised = self._fields.table(table.get("at_least", {}), place)
        self._fields.only(raised, RAISABLE_LIMITS, place)
        return tuple((name, self._fields.number(raised, name, place)) for name in raised)

    def _check(self, table: Any) -> CheckProgram:
        fields = self._fields
        fields.table(table, "check")
        fields.only(table, ("code", "stdin", "stdout", "files", "contains"), "check")
        code, stdin, stdout = (fields.text(table, name, "check") for name in ("code", "stdin", "stdout"))
        files = tuple(File(name, text.encode()) for name, text in fields.texts(table, "files", "check"))
        return CheckProgram(code, stdin, stdout, files, fields.flag(table, "contains", "check"))

    def _install(self, table: Any) -> Install:
        fields = self._fields
        fields.table(table, "install")
        fields.only(table, _INSTALL, "install")
        folder = fields.text_or_none(table, "folder", "install")
        packages = {name: fields.words(table, name, "install") for name in _PACKAGES}
        for name, pinned in _PINNED.items():
            if packages[name] and not folder:
                raise fields.error(f"install.{name} needs install.folder, which says where below {TOOLCHAINS} it goes")
            if loose := [package for package in packages[name] if not pinned.fullmatch(package)]:
                raise fields.error(f"install.{name} must name exact versions; {loose[0]!r} does not")
        return Install(
            **packages,
            on=fields.words(table, "on", "install"),
            apt_unless=fields.words(table, "apt_unless", "install"),
            after=self._after(table),
            made_with=fields.words(table, "made_with", "install"),
            folder=fields.plain_file(folder) if folder else "",
            megabytes=fields.number(table, "megabytes", "install"),
            unavailable=fields.text_or_none(table, "unavailable", "install"),
        )

    def _after(self, table: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        commands = table.get("after", [])
        if not isinstance(commands, list):
            raise self._fields.error("install.after must be a list of commands, each a list of texts")
        found = tuple(self._fields.words({"after": command}, "after", "install") for command in commands)
        for word in (word for command in found for word in command):
            self._placeholders(word, "install.after", INSTALL_PLACEHOLDERS)
        return found

    def _links(self, table: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        links = self._fields.texts(table, "links", "")
        for name, target in links:
            self._fields.plain_file(name)
            self._placeholders(target, f"links.{name}", ("toolchains", "workdir"))
        return links

    def _asset(self, language: str, asset: str) -> File:
        """Its own folder of assets, or another language's: "go/go.mod"."""
        folder, _, name = asset.rpartition("/")
        folder = self._fields.plain_file(folder or language)
        try:
            return File(self._fields.plain_file(name), self._content(folder, name))
        except OSError as error:
            raise self._fields.error(f"the asset {asset!r} cannot be read: {error}") from error

    def _env(self, table: Mapping[str, Any], place: str, binary: str) -> tuple[tuple[str, str], ...]:
        found = self._fields.texts(table, "env", place)
        for name, value in found:
            self._placeholders(value, f"{place}.env.{name}", _known(binary))
        return found

    def _argv(self, table: Mapping[str, Any], name: str, place: str, binary: str) -> tuple[str, ...]:
        words = self._fields.words(table, name, place)
        if not words:
            raise self._fields.error(f"{path(place, name)} must be a list with the program first")
        for word in words:
            self._placeholders(word, path(place, name), _known(binary))
        return words

    def _version(self, table: Mapping[str, Any]) -> tuple[str, ...]:
        """Asked without any program at hand, so there is no source and no binary."""
        words = self._argv(table, "version", "", "none")
        if any(f"{{{name}}}" in word for word in words for name in JOB_PLACEHOLDERS):
            raise self._fields.error(f"version cannot use {', '.join(f'{{{name}}}' for name in JOB_PLACEHOLDERS)}")
        return words

    def _placeholders(self, word: str, place: str, known: Iterable[str]) -> None:
        for name in _LOOKS_LIKE_ONE.findall(word):
            if name == "binary" and name not in known:
                raise self._fields.error(f"{place} uses {{binary}} but the file sets no binary")
            if name not in known:
                there_are = ", ".join(f"{{{one}}}" for one in known)
                raise self._fields.error(f"{place} uses {{{name}}}, which is no placeholder; there are {there_are}")


def _known(binary: str) -> tuple[str, ...]:
    return PLACEHOLDERS if binary else tuple(name for name in PLACEHOLDERS if name != "binary")


def _sees_toolchains(
    table: Mapping[str, Any], compiling: Recipe | None, running: Recipe, links: tuple[tuple[str, str], ...]
) -> bool:
    recipes = (compiling, running) if compiling else (running,)
    words = [word for recipe in recipes for word in (*recipe.argv, *(value for _, value in recipe.env))]
    return any(TOOLCHAINS in word for word in (*words, *(target for _, target in links), *table.get("version", ())))
