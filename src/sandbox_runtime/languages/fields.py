"""Values of a TOML table, read strictly: whatever is missing, unknown or of the wrong shape is refused with the place named."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from sandbox_runtime.errors import InvalidRequest

_NAME = re.compile(r"[A-Za-z0-9_+#.-]{1,32}")


class Fields:
    """The readers; origin names the file in every error, place the table within it."""

    def __init__(self, origin: str) -> None:
        self.origin = origin

    def words(self, table: Mapping[str, Any], name: str, place: str) -> tuple[str, ...]:
        value = table.get(name, [])
        if not isinstance(value, list) or not all(isinstance(word, str) and word for word in value):
            raise self.error(f"{path(place, name)} must be a list of texts, none of them empty")
        return tuple(value)

    def text(self, table: Mapping[str, Any], name: str, place: str) -> str:
        value = self.need(table, name, place)
        if not isinstance(value, str) or not value:
            raise self.error(f"{path(place, name)} must be a text that is not empty")
        return value

    def text_or_none(self, table: Mapping[str, Any], name: str, place: str) -> str:
        return self.text(table, name, place) if name in table else ""

    def texts(self, table: Mapping[str, Any], name: str, place: str) -> tuple[tuple[str, str], ...]:
        """A table of names and texts."""
        inner = self.table(table.get(name, {}), path(place, name))
        for key, value in inner.items():
            if not isinstance(value, str):
                raise self.error(f"{path(place, name)}.{key} must be text")
        return tuple(inner.items())

    def flag(self, table: Mapping[str, Any], name: str, place: str, default: bool = False) -> bool:
        value = table.get(name, default)
        if not isinstance(value, bool):
            raise self.error(f"{path(place, name)} must be true or false")
        return value

    def number(self, table: Mapping[str, Any], name: str, place: str) -> int:
        """A whole number above 0, or 0 where there is none."""
        if name not in table:
            return 0
        value = table[name]
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.error(f"{path(place, name)} must be a whole number above 0")
        return value

    def one_of(self, table: Mapping[str, Any], name: str, known: Collection[str], default: str) -> str:
        value = table.get(name, default)
        if value != default and value not in known:
            raise self.error(f"{name} must be one of {', '.join(known)}, not {value!r}")
        return str(value)

    def plain_name(self, name: str, place: str) -> str:
        if not _NAME.fullmatch(name):
            raise self.error(f"{place} holds {name!r}; letters, digits and _ + # . - are allowed, 32 at the most")
        return name

    def plain_file(self, name: str) -> str:
        if "/" in name or name in (".", "..") or "\0" in name:
            raise self.error(f"{name!r} must be a plain file name without folders")
        return name

    def need(self, table: Mapping[str, Any], name: str, place: str) -> Any:
        if name not in table:
            raise self.error(f"{path(place, name)} is missing")
        return table[name]

    def table(self, value: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.error(f"{place} must be a table")
        return value

    def only(self, table: Mapping[str, Any], known: Collection[str], place: str) -> None:
        for name in table:
            if name not in known:
                raise self.error(f"{path(place, name)} is no known key; known here: {', '.join(sorted(known))}")

    def error(self, text: str) -> InvalidRequest:
        return InvalidRequest(f"language file {self.origin}: {text}")


def path(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
