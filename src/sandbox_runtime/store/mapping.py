"""Which field of a noun lies in which column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, Insert, Table, insert

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

    @cached_property
    def columns(self) -> tuple[Column[Any], ...]:
        return tuple(self.table.c[name] for name in self.fields.values())

    @cached_property
    def key(self) -> Column[Any]:
        return self.table.c[self.fields["id"]]

    @cached_property
    def insert(self) -> Insert:
        return insert(self.table)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return (*self.fields.values(), *self.derived.values())

    @cached_property
    def _read(self) -> Callable[[Noun], tuple[Any, ...]]:
        return attrgetter(*self.fields, *self.derived)

    def column(self, path: str) -> Column[Any]:
        return self.table.c[self.fields[path]]

    def values(self, noun: Noun) -> dict[str, Any]:
        """Column → value, for every column."""
        return dict(zip(self._names, self._read(noun), strict=True))

    def changed(self, before: Noun, after: Noun) -> dict[str, Any]:
        """Column → value, for those in which the two differ."""
        both = zip(self._names, self._read(before), self._read(after), strict=True)
        return {name: new for name, old, new in both if new is not old and new != old}

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
