"""The `dataset` section of a configuration file: where benchmarks find their rows and how they are judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Database:
    """The database server with the rows. Kind `none`: there is none."""

    kind: str = "none"
    user: str = ""
    password: str = ""
    psm: str = ""
    host: str = ""
    port: str = ""

    @property
    def url(self) -> str:
        """The URL of the database, or empty. The file has no key for the database name; `psm`, the service name, is used."""
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
    """Kind `local`: a folder of JSON lines; `mysql`: tables of the database."""

    kind: str
    path: str = ""
    tables: tuple[CachedTable, ...] = ()


@dataclass(frozen=True, slots=True)
class RowCache:
    path: str
    """A file, or `memory`."""
    sources: tuple[CacheSource, ...] = ()


@dataclass(frozen=True, slots=True)
class Registration:
    """A class of benchmarks."""

    class_name: str
    module_path: str = ""
    tables: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Dataset id → table of its rows."""


@dataclass(frozen=True, slots=True)
class DatasetConfig:
    database: Database = Database()
    cache: RowCache | None = None
    max_runner_concurrency: int = 0
    """Test cases of one submission that run concurrently. 0: all."""
    cpu_runner_url: str = ""
    gpu_runner_url: str = ""
    default_dataset_table: str = "code_eval_${dataset_id}"
    registry: tuple[Registration, ...] = ()
    origin: str = field(default="", compare=False)
    """The file it was read from; empty if there is none."""
