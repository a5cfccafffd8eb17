"""Which field of a noun lies in which column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, Insert, Table, insert

Model = TypeVar("Model")


@dataclass(frozen=True)
class TableMapping(Generic[Model]):
    """fields: path of a field → name of its column; a path with a dot leads into a part ("resources.cpu_cores"), whose class
    parts names. derived: what is written for queries to use but not read back."""

    label: str
    model_type: type[Model]
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
    def _getter(self) -> Callable[[Model], tuple[Any, ...]]:
        return attrgetter(*self.fields, *self.derived)

    def column(self, path: str) -> Column[Any]:
        return self.table.c[self.fields[path]]

    def to_row(self, model: Model) -> dict[str, Any]:
        """Column → value, for every column."""
        return dict(zip(self._names, self._getter(model), strict=True))

    def changed_columns(self, before: Model, after: Model) -> dict[str, Any]:
        """Column → value, for those in which the two differ."""
        both = zip(self._names, self._getter(before), self._getter(after), strict=True)
        return {name: new for name, old, new in both if new is not old and new != old}

    def to_model(self, row: Sequence[Any]) -> Model:
        """From values in the order of columns."""
        fields: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for path, value in zip(self.fields, row, strict=True):
            part, dot, inner = path.partition(".")
            if dot:
                nested.setdefault(part, {})[inner] = value
            else:
                fields[path] = value
        return self.model_type(**fields, **{part: self.parts[part](**values) for part, values in nested.items()})
