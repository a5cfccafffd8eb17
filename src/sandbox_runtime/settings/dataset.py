"""The `dataset` part of a configuration file, in typed form: where benchmarks find their rows and how they are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import quote

from sandbox_runtime.settings.sections import Section

_MAX_CONCURRENCY = 100_000


@dataclass(frozen=True, slots=True)
class Database:
    """The server that holds the rows; kind `none`: there is none."""

    kind: str = "none"
    user: str = ""
    password: str = ""
    psm: str = ""
    host: str = ""
    port: str = ""

    @property
    def url(self) -> str:
        """Empty where there is none. The form has no key for the name of the database: `psm`, which names the service, is it."""
        if self.kind == "none":
            return ""
        login = quote(self.user, safe="") + (f":{quote(self.password, safe='')}" if self.password else "")
        at = f"{login}@" if login else ""
        return f"{self.kind}://{at}{self.host or 'localhost'}{f':{self.port}' if self.port else ''}/{quote(self.psm, safe='')}"


@dataclass(frozen=True, slots=True)
class CachedTable:
    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CacheSource:
    """kind `local`: a folder of JSON lines; `mysql`: tables of the database."""

    kind: str
    path: str = ""
    tables: tuple[CachedTable, ...] = ()


@dataclass(frozen=True, slots=True)
class RowCache:
    """path: a file, or `memory`."""

    path: str
    sources: tuple[CacheSource, ...] = ()


@dataclass(frozen=True, slots=True)
class Registration:
    """A class of benchmarks and, by dataset id, the tables of their rows."""

    class_name: str
    module_path: str = ""
    tables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class DatasetConfig:
    database: Database = Database()
    cache: RowCache | None = None
    max_runner_concurrency: int = 0
    """Cases of one submission that run at once; 0: as many as there are."""
    cpu_runner_url: str = ""
    gpu_runner_url: str = ""
    default_dataset_table: str = "code_eval_${dataset_id}"
    registry: tuple[Registration, ...] = ()
    origin: str = field(default="", compare=False)
    """The file it came from; empty where there is none."""


def read_dataset(section: Section, origin: str) -> DatasetConfig:
    with section as keys:
        with keys.section("database") as database:
            backend, cache = _database(database.section("backend")), database.raw("cache")
            rows = None if cache is None else _cache(database.section("cache"))
        return DatasetConfig(
            database=backend,
            cache=rows,
            max_runner_concurrency=keys.whole("max_runner_concurrency", 0, 0, _MAX_CONCURRENCY),
            cpu_runner_url=keys.text("cpu_runner_url", ""),
            gpu_runner_url=keys.text("gpu_runner_url", ""),
            default_dataset_table=keys.text("default_dataset_table", DatasetConfig().default_dataset_table),
            registry=tuple(map(_registration, keys.sections("registry"))),
            origin=origin,
        )


def _database(section: Section) -> Database:
    with section as keys:
        kind = keys.choice("type", ("mysql", "none"), "none")
        user, password, psm, host, port = (keys.text(name, "") for name in ("user", "password", "psm", "host", "port"))
        return Database(kind, user, password, psm, host, port)


def _cache(section: Section) -> RowCache:
    with section as keys:
        return RowCache(keys.text("path"), tuple(map(_source, keys.sections("sources"))))


def _source(section: Section) -> CacheSource:
    with section as keys:
        kind = keys.choice("type", ("local", "mysql"), "")
        if kind == "local":
            return CacheSource(kind, path=keys.text("path"))
        return CacheSource(kind, tables=tuple(map(_table, keys.sections("tables"))))


def _table(section: Section) -> CachedTable:
    with section as keys:
        return CachedTable(keys.text("name"), keys.texts("columns"))


def _registration(section: Section) -> Registration:
    with section as keys:
        tables = MappingProxyType(keys.texts_by_name("dataset_tables"))
        return Registration(keys.text("class_name"), keys.text("module_path", ""), tables)
