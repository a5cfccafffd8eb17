"""Reading a file's tables strictly: each key by its type, each fault by its place, and no key that nobody asked for."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from sandbox_runtime.errors import InvalidRequest


class Section:
    """One table. As a context it complains at its end about the keys that were not asked for."""

    def __init__(self, value: object, where: str) -> None:
        self._table = _table(value, where)
        self._where = where
        self._asked: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        unknown = sorted(set(self._table) - self._asked)
        if error is None and unknown:
            known = ", ".join(sorted(self._asked))
            raise InvalidRequest(f"{self._where}: {unknown[0]!r} is no key there; there are {known}")

    def raw(self, key: str) -> object:
        """None where the key is absent or null."""
        self._asked.add(key)
        return self._table.get(key)

    def text(self, key: str, default: str | None = None) -> str:
        """Numbers are taken too: a port or a password may look like one."""
        value = self.raw(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.fault(key, "must be text")
        return str(value)

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> str:
        value = self.text(key, default)
        if value not in choices:
            raise self.fault(key, f"must be one of {', '.join(choices)}")
        return value

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        value = self.raw(key)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.fault(key, f"must be a whole number from {low} to {high}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.raw(key)
        value = default if value is None else value
        if not isinstance(value, bool):
            raise self.fault(key, "must be true or false")
        return value

    def section(self, key: str) -> Section:
        """An empty one where the key is absent."""
        value = self.raw(key)
        return Section({} if value is None else value, self.place(key))

    def sections(self, key: str) -> list[Section]:
        return [Section(value, f"{self.place(key)}[{number}]") for number, value in enumerate(self._list(key))]

    def texts(self, key: str) -> tuple[str, ...]:
        values = self._list(key)
        if not all(isinstance(value, str) for value in values):
            raise self.fault(key, "must be a list of texts")
        return tuple(map(str, values))

    def texts_by_name(self, key: str) -> dict[str, str]:
        value = self.raw(key)
        table = _table({} if value is None else value, self.place(key))
        if not all(isinstance(text, str) for text in table.values()):
            raise self.fault(key, "must hold texts")
        return {name: str(text) for name, text in table.items()}

    def place(self, key: str) -> str:
        return f"{self._where}, {key}" if self._where.endswith(".yaml") else f"{self._where}.{key}"

    def fault(self, key: str, told: str) -> InvalidRequest:
        return InvalidRequest(f"{self.place(key)} {told}")

    def _list(self, key: str) -> list[object]:
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.fault(key, "must be a list")
        return value


def _table(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise InvalidRequest(f"{where} must be a table of keys and values")
    return value
