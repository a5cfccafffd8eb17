"""How values of the model lie in columns: the same on every database, and readable for an operator who looks at the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Integer, String, Text
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from sandbox_runtime.model import Dependency, InstalledDependency, Metering
from sandbox_runtime.quantities import MIB, format_bytes, parse_bytes

AUTO_INCREMENT = BigInteger().with_variant(Integer, "sqlite")
"""For keys that count up: SQLite does that for INTEGER alone."""

# PostgreSQL keeps no NUL in a text, and programs print some. The escape is a character that nobody uses, from the private area.
_ESCAPE, _ESCAPED_ESCAPE, _ESCAPED_NUL = "\ue000", "\ue0001", "\ue0000"


Value = TypeVar("Value")


class LongText(TypeDecorator[Value]):
    """What may be some megabytes long."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return MEDIUMTEXT() if dialect.name in ("mysql", "mariadb") else self.impl_instance


class AnyText(LongText[str]):
    """A text that may hold any character."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or not ("\0" in value or _ESCAPE in value):
            return value
        return value.replace(_ESCAPE, _ESCAPED_ESCAPE).replace("\0", _ESCAPED_NUL)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None or _ESCAPE not in value:
            return value
        return value.replace(_ESCAPED_NUL, "\0").replace(_ESCAPED_ESCAPE, _ESCAPE)


class Reference(TypeDecorator[str]):
    """The id of something else. None is NULL, as foreign keys and unique keys want it, and empty in the model."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value or None

    def process_result_value(self, value: str | None, dialect: Dialect) -> str:
        return value or ""


class Choice(TypeDecorator[StrEnum]):
    """One of a closed set, by its name."""

    impl = String
    cache_ok = True

    def __init__(self, choices: type[StrEnum], length: int = 20) -> None:
        super().__init__(length)
        self.choices = choices

    def process_bind_param(self, value: StrEnum | None, dialect: Dialect) -> str | None:
        return None if value is None else str(value.value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> StrEnum | None:
        return None if value is None else self.choices(value)


class Flag(TypeDecorator[bool]):
    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: bool | None, dialect: Dialect) -> int:
        return int(bool(value))

    def process_result_value(self, value: int | None, dialect: Dialect) -> bool:
        return bool(value)


class Cores(TypeDecorator[float]):
    """Processor cores as text: "1", "0.5"."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: float | None, dialect: Dialect) -> str:
        return repr(float(value or 0)).removesuffix(".0")

    def process_result_value(self, value: str | None, dialect: Dialect) -> float:
        return float(value or 0)


class Quantity(TypeDecorator[int]):
    """Bytes as text, in the largest unit that divides them: "512Mi", "1Gi", "1000"."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> str:
        return format_bytes(value or 0)

    def process_result_value(self, value: str | None, dialect: Dialect) -> int:
        return parse_bytes(value or "0")


class Megabytes(TypeDecorator[int]):
    """Bytes as a number of MiB."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> int:
        return (value or 0) // MIB

    def process_result_value(self, value: int | None, dialect: Dialect) -> int:
        return (value or 0) * MIB


class JsonMap(LongText[Mapping[str, Any]]):
    cache_ok = True

    def process_bind_param(self, value: Mapping[str, Any] | None, dialect: Dialect) -> str | None:
        return json.dumps(dict(value)) if value else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> Mapping[str, Any]:
        return json.loads(value) if value else {}


class JsonStrings(LongText[tuple[str, ...]]):
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str | None:
        return json.dumps(value) if value else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...]:
        return tuple(json.loads(value)) if value else ()


class JsonDependencies(LongText[tuple[Dependency, ...]]):
    cache_ok = True

    def process_bind_param(self, value: tuple[Dependency, ...] | None, dialect: Dialect) -> str | None:
        return json.dumps([{"name": item.name, "version": item.version} for item in value]) if value else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[Dependency, ...]:
        return tuple(Dependency(item["name"], item["version"]) for item in json.loads(value)) if value else ()


class JsonInstalledDependencies(LongText[tuple[InstalledDependency, ...]]):
    cache_ok = True

    def process_bind_param(self, value: tuple[InstalledDependency, ...] | None, dialect: Dialect) -> str | None:
        return json.dumps([self._to_json(item) for item in value]) if value else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[InstalledDependency, ...]:
        return tuple(self._from_json(item) for item in json.loads(value)) if value else ()

    @staticmethod
    def _to_json(item: InstalledDependency) -> dict[str, object]:
        return {
            "name": item.name,
            "version": item.version,
            "install_location": item.location,
            "install_time": item.installed_ms,
            "is_from_template": item.from_template,
        }

    @staticmethod
    def _from_json(item: Mapping[str, Any]) -> InstalledDependency:
        return InstalledDependency(
            item["name"], item["version"], item["install_location"], item["install_time"], item["is_from_template"]
        )


class JsonMetering(LongText[Metering]):
    cache_ok = True

    def process_bind_param(self, value: Metering | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return json.dumps({name: getattr(value, name) for name in Metering.__dataclass_fields__})

    def process_result_value(self, value: str | None, dialect: Dialect) -> Metering | None:
        return Metering(**json.loads(value)) if value else None
