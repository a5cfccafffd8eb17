"""Which field of a noun lies in which column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, Table

Noun = TypeVar("Noun")


@dataclass(frozen=True)
class Shape(Generic[Noun]):
    """fields: path of a field → name of its column; a path with a dot leads into a part ("resources.cpu_cores"), whose class
    parts names. derived: what is written for queries to use but not read back."""

    called: str
    noun: type[Noun]
    table: Table
    fields: Mapping[str, str]
    parts: Mapping[str, type] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[Column[Any]]:
        return [self.table.c[name] for name in self.fields.values()]

    @property
    def key(self) -> Column[Any]:
        return self.table.c[self.fields["id"]]

    @property
    def key_name(self) -> str:
        return self.fields["id"]

    def column(self, path: str) -> Column[Any]:
        return self.table.c[self.fields[path]]

    def has(self, path: str) -> bool:
        return path in self.fields

    def values(self, noun: Noun) -> dict[str, Any]:
        """Column → value, for every column."""
        return {name: attrgetter(path)(noun) for path, name in (*self.fields.items(), *self.derived.items())}

    def changed(self, before: Noun, after: Noun) -> dict[str, Any]:
        """Column → value, for those in which the two differ."""
        old, new = self.values(before), self.values(after)
        return {name: value for name, value in new.items() if value != old[name]}

    def noun_of(self, row: Sequence[Any]) -> Noun:
        """From values in the order of columns."""
        given: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for path, value in zip(self.fields, row, strict=True):
            part, dot, inner = path.partition(".")
            if dot:
                nested.setdefault(part, {})[inner] = value
            else:
                given[path] = value
        return self.noun(**given, **{part: self.parts[part](**values) for part, values in nested.items()})
