"""The keys of a configuration file (SANDBOX_CONFIG). A key with the value null counts as missing."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, model_validator

from sandbox_runtime.settings.dataset import CachedTable, CacheSource, Database, DatasetConfig, Registration, RowCache
from sandbox_runtime.validation import StrictModel, drop_nulls

_MAX_USER_ID = 2**32 - 2
_MAX_CONCURRENCY = 100_000


def _number_to_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Text = Annotated[str, BeforeValidator(_number_to_text)]
"""Text. Numbers are accepted: a port or a password may look like one."""


class _Section(StrictModel):
    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, table: object) -> object:
        return drop_nulls(table)


class _SandboxSection(_Section):
    isolation: Literal["none", "lite"] | None = None
    set_uid: Annotated[StrictInt, Field(ge=0, le=_MAX_USER_ID)] | None = None
    restore_bash: StrictBool = False
    cleanup_process: StrictBool = False
    max_concurrency: Annotated[StrictInt, Field(ge=1, le=_MAX_CONCURRENCY)] | None = None

    @model_validator(mode="after")
    def _check_isolation(self) -> Self:
        """Every box has its own user and an untouched shell. Without boxes these keys promise what nothing provides."""
        key = "set_uid" if self.set_uid is not None else "restore_bash" if self.restore_bash else ""
        if key and self.isolation == "none":
            raise ValueError(f"{key} needs isolation lite, where every box does it anyway; remove {key} or change isolation")
        return self


class _CommonSection(_Section):
    logging_color: StrictBool | None = None


class _Backend(_Section):
    type: Literal["mysql", "none"] = "none"
    user: Text = ""
    password: Text = ""
    psm: Text = ""
    host: Text = ""
    port: Text = ""


class _Table(_Section):
    name: Text
    columns: tuple[StrictStr, ...] = ()


class _Source(_Section):
    type: Literal["local", "mysql"]
    path: Text | None = None
    tables: tuple[_Table, ...] | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.type == "local" and self.path is None:
            raise ValueError("path is missing; a source of type local needs it")
        if (self.tables if self.type == "local" else self.path) is not None:
            raise ValueError(f"{'tables' if self.type == 'local' else 'path'} does not fit the type {self.type}; remove it")
        return self


class _Cache(_Section):
    path: Text
    sources: tuple[_Source, ...] = ()


class _DatabaseSection(_Section):
    backend: _Backend = _Backend()
    cache: _Cache | None = None


class _Registration(_Section):
    class_name: Text
    module_path: Text = ""
    dataset_tables: dict[str, StrictStr] = Field(default_factory=dict)


class _DatasetSection(_Section):
    database: _DatabaseSection = _DatabaseSection()
    max_runner_concurrency: Annotated[StrictInt, Field(ge=0, le=_MAX_CONCURRENCY)] = 0
    cpu_runner_url: Text = ""
    gpu_runner_url: Text = ""
    default_dataset_table: Text = DatasetConfig().default_dataset_table
    registry: tuple[_Registration, ...] = ()


class ConfigSections(_Section):
    sandbox: _SandboxSection = _SandboxSection()
    common: _CommonSection = _CommonSection()
    dataset: _DatasetSection = _DatasetSection()

    def settings(self) -> dict[str, object]:
        """Return the settings that the file sets, by name."""
        values = {
            "isolation": self.sandbox.isolation,
            "max_concurrency": self.sandbox.max_concurrency,
            "log_color": self.common.logging_color,
        }
        return {name: value for name, value in values.items() if value is not None}

    def dataset_config(self, origin: str) -> DatasetConfig:
        section = self.dataset
        backend, cache = section.database.backend, section.database.cache
        return DatasetConfig(
            database=Database(backend.type, backend.user, backend.password, backend.psm, backend.host, backend.port),
            cache=None if cache is None else RowCache(cache.path, tuple(map(_to_source, cache.sources))),
            max_runner_concurrency=section.max_runner_concurrency,
            cpu_runner_url=section.cpu_runner_url,
            gpu_runner_url=section.gpu_runner_url,
            default_dataset_table=section.default_dataset_table,
            registry=tuple(
                Registration(entry.class_name, entry.module_path, MappingProxyType(entry.dataset_tables))
                for entry in section.registry
            ),
            origin=origin,
        )


def _to_source(source: _Source) -> CacheSource:
    tables = tuple(CachedTable(table.name, table.columns) for table in source.tables or ())
    return CacheSource(source.type, source.path or "", tables)
