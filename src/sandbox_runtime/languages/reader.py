"""From a TOML text to a Language, strictly: whatever is unknown, missing or of the wrong shape is refused with the place
named."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.language import LIMITS_TO_RAISE, PLACEHOLDERS, Check, Language, Recipe

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z0-9_+#.-]{1,32}")
_TOP = frozenset(
    {"name", "title", "aliases", "extensions", "source", "binary", "version", "needs", "warm", "compile", "run", "check"}
)
_RECIPE = frozenset({"argv", "env", "linked", "at_least"})


def read_language(text: str, origin: str) -> Language:
    """origin names the file in every error."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"language file {origin} is not valid TOML: {error}") from error
    return _Reader(origin).language(table)


class _Reader:
    def __init__(self, origin: str) -> None:
        self._origin = origin

    def language(self, table: Mapping[str, Any]) -> Language:
        self._only(table, _TOP, "")
        binary = self._text(table, "binary", "") if "binary" in table else ""
        recipe = self._recipe(table["compile"], "compile", binary) if "compile" in table else None
        return Language(
            name=self._plain_name(self._text(table, "name", ""), "name"),
            title=self._text(table, "title", ""),
            aliases=tuple(self._plain_name(alias, "aliases") for alias in self._words(table, "aliases", "")),
            extensions=tuple(self._plain_name(end, "extensions") for end in self._words(table, "extensions", "")),
            source=self._plain_file(self._text(table, "source", "")),
            binary=self._plain_file(binary) if binary else "",
            version=self._version(table),
            needs=self._text(table, "needs", ""),
            warm=self._flag(table, "warm"),
            compile=recipe,
            run=self._recipe(self._need(table, "run", ""), "run", binary),
            check=self._check(self._need(table, "check", "")),
            origin=self._origin,
        )

    def _recipe(self, table: Any, place: str, binary: str) -> Recipe:
        self._table(table, place)
        self._only(table, _RECIPE, place)
        raised = self._table(table.get("at_least", {}), f"{place}.at_least")
        self._only(raised, frozenset(LIMITS_TO_RAISE), f"{place}.at_least")
        if not all(isinstance(value, int) and not isinstance(value, bool) and value > 0 for value in raised.values()):
            raise self._error(f"{place}.at_least must hold whole numbers above 0")
        return Recipe(
            argv=self._argv(table, "argv", place, binary),
            env=self._env(table.get("env", {}), place, binary),
            linked=self._words(table, "linked", place),
            at_least=tuple(raised.items()),
        )

    def _check(self, table: Any) -> Check:
        self._table(table, "check")
        self._only(table, frozenset({"code", "stdin", "stdout"}), "check")
        return Check(*(self._text(table, name, "check") for name in ("code", "stdin", "stdout")))

    def _env(self, table: Any, place: str, binary: str) -> tuple[tuple[str, str], ...]:
        self._table(table, f"{place}.env")
        for name, value in table.items():
            if not isinstance(value, str):
                raise self._error(f"{place}.env.{name} must be text")
            self._placeholders(value, f"{place}.env.{name}", binary)
        return tuple(table.items())

    def _argv(self, table: Mapping[str, Any], name: str, place: str, binary: str) -> tuple[str, ...]:
        words = self._words(table, name, place)
        if not words:
            raise self._error(f"{_path(place, name)} must be a list with the program first")
        for word in words:
            self._placeholders(word, _path(place, name), binary)
        return words

    def _version(self, table: Mapping[str, Any]) -> tuple[str, ...]:
        """Asked without any program at hand, so there is no source and no binary."""
        words = self._argv(table, "version", "", "none")
        if any(name in word for word in words for name in ("{source}", "{binary}")):
            raise self._error("version cannot use {source} or {binary}")
        return words

    def _placeholders(self, word: str, place: str, binary: str) -> None:
        for name in _PLACEHOLDER.findall(word):
            if name not in PLACEHOLDERS:
                known = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
                raise self._error(f"{place} uses {{{name}}}, which is no placeholder; there are {known}")
            if name == "binary" and not binary:
                raise self._error(f"{place} uses {{binary}} but the file sets no binary")

    def _words(self, table: Mapping[str, Any], name: str, place: str) -> tuple[str, ...]:
        value = table.get(name, [])
        if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
            raise self._error(f"{_path(place, name)} must be a list of texts, none of them empty")
        return tuple(value)

    def _text(self, table: Mapping[str, Any], name: str, place: str) -> str:
        value = self._need(table, name, place)
        if not isinstance(value, str) or not value:
            raise self._error(f"{_path(place, name)} must be a text that is not empty")
        return value

    def _flag(self, table: Mapping[str, Any], name: str) -> bool:
        value = table.get(name, False)
        if not isinstance(value, bool):
            raise self._error(f"{name} must be true or false")
        return value

    def _plain_name(self, name: str, place: str) -> str:
        if not _NAME.fullmatch(name):
            raise self._error(f"{place} holds {name!r}; letters, digits and _ + # . - are allowed, 32 at the most")
        return name

    def _plain_file(self, name: str) -> str:
        if "/" in name or name in (".", "..") or "\0" in name:
            raise self._error(f"{name!r} must be a plain file name without folders")
        return name

    def _need(self, table: Mapping[str, Any], name: str, place: str) -> Any:
        if name not in table:
            raise self._error(f"{_path(place, name)} is missing")
        return table[name]

    def _table(self, value: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._error(f"{place} must be a table")
        return value

    def _only(self, table: Mapping[str, Any], known: frozenset[str], place: str) -> None:
        for name in table:
            if name not in known:
                raise self._error(f"{_path(place, name)} is no known key; known here: {', '.join(sorted(known))}")

    def _error(self, text: str) -> InvalidRequest:
        return InvalidRequest(f"language file {self._origin}: {text}")


def _path(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
