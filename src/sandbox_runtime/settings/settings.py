"""Settings, with a value for each setting. Defaults that depend on the machine are computed here."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from sandbox_runtime.settings.access_settings import AccessSettings
from sandbox_runtime.settings.batch_settings import BatchSettings
from sandbox_runtime.settings.connection_settings import ConnectionSettings
from sandbox_runtime.settings.dataset import DatasetConfig
from sandbox_runtime.settings.dataset_settings import DatasetSettings
from sandbox_runtime.settings.judge_settings import JudgeSettings
from sandbox_runtime.settings.session_settings import SessionSettings
from sandbox_runtime.settings.setting import Setting, check_value, setting
from sandbox_runtime.settings.storage_settings import StorageSettings

KIB, MIB, GIB = 1024, 1024**2, 1024**3


def _checkout() -> Path:
    """The root of the source tree if the package runs from it."""
    return Path(__file__).parents[3]


def _machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _memory_ceiling() -> int:
    return min(4 * GIB, _machine_memory())


def _max_concurrency() -> int:
    return max(16, 4 * (os.cpu_count() or 1))


def _toolchains_dir() -> str:
    if (_checkout() / "pyproject.toml").is_file():
        return str(_checkout() / ".state" / "toolchains")
    if os.geteuid() == 0:
        return "/var/lib/sandbox-runtime/toolchains"
    return str(Path.home() / ".local" / "share" / "sandbox-runtime" / "toolchains")


def _guest_python() -> str:
    made = _checkout() / ".state" / "guest" / "bin" / "python"
    return str(made) if made.exists() else "/usr/bin/python3"


def _state_dir() -> str:
    """A folder that only this user can write: root's own, the login session's runtime folder, or a folder below /tmp."""
    if os.geteuid() == 0:
        return "/run/sandbox-runtime"
    session = f"/run/user/{os.geteuid()}"
    return f"{session}/sandbox-runtime" if os.path.isdir(session) else f"/tmp/sandbox-runtime-{os.geteuid()}"


@dataclass(frozen=True, kw_only=True)
class Settings(
    SessionSettings, AccessSettings, JudgeSettings, DatasetSettings, BatchSettings, StorageSettings, ConnectionSettings
):
    host: str = setting(
        "127.0.0.1", "address", "Address the server listens on. Any address other than loopback requires keys.", "server"
    )
    port: int = setting(8080, "port", "Port the server listens on.", "server", low=0, high=65535)
    api_key: str = setting(
        "",
        "text",
        "Key that clients send as `Authorization: Bearer` or `X-API-Key`. Empty: the server listens on loopback only and "
        "needs no key.",
        "server",
        secret=True,
    )
    log_level: str = setting(
        "info", "level", "Minimum level of log messages.", "server", choices=("debug", "info", "warning", "error")
    )
    log_format: str = setting("text", "format", "Format of log lines.", "server", choices=("text", "json"))
    log_color: bool = setting(False, "yes or no", "Color log lines in text format.", "server")
    pod_name: str = setting(
        "", "text", "Name of this machine in responses (executor_pod_name).", "server", environment="MY_POD_NAME"
    )

    isolation: str = setting(
        "namespaces",
        "backend",
        "How boxes are isolated. `none` is for development only; every response reports it. `lite` means `namespaces`.",
        "isolation",
        choices=("namespaces", "bubblewrap", "none"),
        value_aliases=(("lite", "namespaces"),),
    )
    allow_network: bool = setting(
        False,
        "yes or no",
        "Let programs reach public addresses, but never the host's own, private or link-local addresses.",
        "isolation",
    )
    network_allow: tuple[str, ...] = setting(
        (), "addresses", "Private addresses or CIDR blocks that programs may reach. Requires allow_network.", "isolation"
    )
    network_refuse: tuple[str, ...] = setting(
        (), "addresses", "Public addresses or CIDR blocks that programs may not reach. Only used with allow_network.", "isolation"
    )
    network_dns: bool = setting(
        False,
        "yes or no",
        "Let programs query the host's resolvers on port 53 even if their addresses are private.",
        "isolation",
    )
    network_nameservers: tuple[str, ...] = setting((), "addresses", "Resolvers for programs, instead of the host's.", "isolation")
    guest_check_s: float = setting(
        5.0,
        "seconds",
        "Interval at which the server checks whether the guest interpreter was upgraded. New boxes use the new one.",
        "isolation",
        low=0.01,
        high=3600,
    )
    guest_python: str = setting(
        _guest_python,
        "path",
        "Interpreter that runs Python programs; separate from the server's own.",
        "isolation",
        default_text="`.state/guest/bin/python` of the checkout where `make` has made it, otherwise `/usr/bin/python3`",
    )
    preset: tuple[str, ...] = setting(
        ("std",),
        "names",
        "Modules that are loaded before a Python program arrives: `std` (the most used standard modules), `data` (also "
        "numpy and pandas), `plot` (also matplotlib), or a list of modules in addition to the standard ones.",
        "isolation",
    )
    state_dir: str = setting(
        _state_dir,
        "path",
        "Folder for sockets and the files of boxes, private to the user that runs the server.",
        "isolation",
        default_text="`/run/sandbox-runtime` as root, otherwise below the user's runtime folder",
    )
    box_uid_base: int = setting(
        200_000,
        "user id",
        "First of the host user ids that boxes get if the server runs as root. No other user may have them.",
        "isolation",
        low=1000,
        high=2**31,
    )

    cpu_quota: float = setting(2.0, "cores", "Processor cores a program may use.", "limits", low=0.01, high=4096)
    memory_limit: int = setting(
        131072, "KB", "Memory of a program if the request sets none.", "limits", low=4096, high=1024 * 1024 * 1024
    )
    memory_ceiling: int = setting(
        _memory_ceiling,
        "bytes",
        "Maximum memory a request can ask for, and the memory of a request without a memory limit.",
        "limits",
        low=4 * MIB,
        high=1024 * GIB,
        default_text="4 GiB, or the machine's memory if that is less",
    )
    timeout_seconds: float = setting(
        300.0, "seconds", "Wall time of a program if the request sets none.", "limits", low=0.001, high=86_400
    )
    timeout_ceiling: float = setting(
        3600.0, "seconds", "Maximum wall time a request can ask for.", "limits", low=0.001, high=86_400
    )
    process_limit: int = setting(
        128, "processes", "Maximum number of concurrent processes and threads of a program.", "limits", low=1, high=100_000
    )
    output_limit: int = setting(
        64 * MIB,
        "bytes",
        "A program is stopped when it has written this much output, both streams together.",
        "limits",
        low=1,
        high=16 * GIB,
    )
    output_keep_bytes: int = setting(
        8 * MIB, "bytes", "How much of each output stream is kept: its head and its tail.", "limits", low=2, high=GIB
    )
    disk_limit: int = setting(
        256 * MIB, "bytes", "Maximum size of all files a program writes.", "limits", low=64 * KIB, high=1024 * GIB
    )
    file_limit: int = setting(
        65_536, "files", "Maximum number of files and folders a program may create.", "limits", low=16, high=100_000_000
    )

    pool_size: int = setting(2, "boxes", "Minimum number of boxes kept ready.", "pool", low=0, high=10_000)
    pool_max: int = setting(32, "boxes", "Maximum number of boxes kept ready after high demand.", "pool", low=0, high=10_000)
    notebook_pool_size: int = setting(
        2, "kernels", "Notebook kernels kept running while notebooks are in use.", "pool", low=0, high=1000
    )
    started_pool_size: int = setting(
        2,
        "boxes",
        "Boxes with a started interpreter, for each language that supports it (JavaScript), while it is in use.",
        "pool",
        low=0,
        high=1000,
    )
    max_concurrency: int = setting(
        _max_concurrency,
        "runs",
        "Maximum number of concurrent programs. Further ones are queued.",
        "pool",
        low=1,
        high=100_000,
        default_text="4 for each core, at least 16",
    )
    queue_size: int = setting(
        1024, "requests", "Maximum number of queued requests. Further ones are rejected at once.", "pool", low=0, high=1_000_000
    )
    queue_wait_s: float = setting(
        30.0, "seconds", "Maximum time in the queue. Then the request is rejected.", "pool", low=0, high=3600
    )

    max_request_bytes: int = setting(64 * MIB, "bytes", "Maximum size of a request body.", "bounds", low=1024, high=4 * GIB)
    max_request_values: int = setting(
        200_000,
        "values",
        "Approximate maximum number of JSON values in a request body. Many small values take far longer to parse than one "
        "long text.",
        "bounds",
        low=1000,
        high=1_000_000_000,
    )
    max_code_bytes: int = setting(4 * MIB, "bytes", "Maximum size of a program text.", "bounds", low=1, high=GIB)
    max_stdin_bytes: int = setting(32 * MIB, "bytes", "Maximum size of the standard input.", "bounds", low=0, high=GIB)
    max_files: int = setting(
        256, "files", "Maximum number of files in a request, and of files fetched by it.", "bounds", low=0, high=100_000
    )
    max_file_bytes: int = setting(32 * MIB, "bytes", "Maximum size of a single file, in and out.", "bounds", low=0, high=4 * GIB)

    toolchains_dir: str = setting(
        _toolchains_dir,
        "path",
        "Folder in which `sandbox languages install` puts toolchains. Boxes of languages that need it mount it read-only.",
        "languages",
        default_text="`.state/toolchains` of the checkout, otherwise a folder of the user that runs the server",
    )
    build_cache_bytes: int = setting(
        GIB,
        "bytes",
        "Maximum disk size of cached builds, all together. 0: builds are not cached.",
        "languages",
        low=0,
        high=1024 * GIB,
    )
    build_cache_entry_bytes: int = setting(
        32 * MIB, "bytes", "Maximum size of one cached build, all its files together.", "languages", low=0, high=4 * GIB
    )
    build_cache_dir: str = setting(
        "",
        "path",
        "Folder for cached builds, accessible only to the server's user.",
        "languages",
        default_text="`builds` in state_dir where that is set, otherwise `/var/cache/sandbox-runtime/builds` as root and "
        "`~/.cache/sandbox-runtime/builds` as another user",
    )
    check_languages: bool = setting(
        True,
        "yes or no",
        "Check every language in the background after the start. Otherwise each is checked before its first use.",
        "languages",
    )
    languages_dir: str = setting(
        "",
        "path",
        "Folder with your own language files (*.toml). They extend the built-in ones, or replace them by name.",
        "languages",
    )

    database_url: str = setting(
        "",
        "URL",
        "Database of sessions and results: `sqlite:////folder/file.db`, `mysql://…` (MariaDB) or `postgresql://…`.",
        "store",
        secret=True,
        default_text="an SQLite file: `store/store.db` in state_dir where that is set, otherwise in `/var/lib/sandbox-runtime` "
        "as root and in `~/.local/share/sandbox-runtime` as another user",
    )
    database_pool_size: int = setting(20, "connections", "Connections kept open to a database server.", "store", low=1, high=1000)
    database_pool_overflow: int = setting(
        40, "connections", "Additional connections when all are busy.", "store", low=0, high=1000
    )
    database_pool_recycle_s: int = setting(
        3600, "seconds", "Age at which a connection to a database server is replaced.", "store", low=1, high=86_400
    )

    workspace_expiration_time: float = setting(
        86_400.0,
        "seconds",
        "How long an unused session of the workspace interface is kept.",
        "workspace",
        low=1,
        high=30 * 86_400,
        environment="WORKSPACE_EXPIRATION_TIME",
    )
    efast_downloader_url: str = setting(
        "",
        "URL",
        "Document server from which sessions can download files (download_from_efast). Empty: no downloads.",
        "workspace",
        environment="EFAST_DOWNLOADER_URL",
    )
    downloader_timeout: float = setting(
        300.0,
        "seconds",
        "Maximum time for a download from the document server, all files of a request together.",
        "workspace",
        low=1,
        high=3600,
        environment="DOWNLOADER_TIMEOUT",
    )

    dataset: DatasetConfig = field(default_factory=DatasetConfig)
    """The `dataset` section of the configuration file that SANDBOX_CONFIG names."""
    origin: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    """Source of each value: "default", "file /etc/…", "environment SANDBOX_…", "flag" or "SANDBOX_CONFIG …"."""

    def __post_init__(self) -> None:
        for name, declared in all_settings().items():
            check_value(getattr(self, name), declared, name, self.origin.get(name, "the call"))

    @property
    def builds_dir(self) -> str:
        """Folder of cached builds. By default apart from state_dir, which is in memory on most machines."""
        if self.build_cache_dir:
            return self.build_cache_dir
        if self.state_dir != _state_dir():
            return f"{self.state_dir}/builds"
        cache = Path("/var/cache") if os.geteuid() == 0 else Path.home() / ".cache"
        return str(cache / "sandbox-runtime" / "builds")

    @property
    def store_url(self) -> str:
        """URL of the database. By default apart from state_dir, which a reboot deletes."""
        return self.database_url or f"sqlite:///{self.data_dir}/store/store.db"

    @property
    def data_dir(self) -> str:
        """Folder for data that survives a reboot."""
        if self.state_dir != _state_dir():
            return self.state_dir
        kept = Path("/var/lib") if os.geteuid() == 0 else Path.home() / ".local" / "share"
        return str(kept / "sandbox-runtime")

    @property
    def files_dir(self) -> str:
        return self.storage_dir or f"{self.data_dir}/store/files"

    @property
    def tables_dir(self) -> str:
        """Folder with the rows of datasets."""
        return self.datasets_dir or f"{self.data_dir}/datasets"

    @property
    def batches_dir(self) -> str:
        return f"{self.data_dir}/store/batches"

    @property
    def effective_datalake_url(self) -> str:
        """URL of the database with dataset rows, from the setting or the configuration file. Empty: none."""
        return self.datalake_url or self.dataset.database.url

    @property
    def requires_keys(self) -> bool:
        return bool(self.api_key) or self.require_keys

    @property
    def exposed(self) -> bool:
        """Whether other machines can reach the server."""
        return self.host not in ("localhost", "::1") and not self.host.startswith("127.")


def all_settings() -> Mapping[str, Setting]:
    return _ALL_SETTINGS


def _collect_settings() -> dict[str, Setting]:
    """Return all settings in the order of the reference: server, datasets, judge, access, sessions."""
    found = {entry.name: entry.metadata["setting"] for entry in dataclasses.fields(Settings) if "setting" in entry.metadata}
    parts = (DatasetSettings, JudgeSettings, AccessSettings, SessionSettings)
    place = {entry.name: number for number, part in enumerate(parts, 1) for entry in dataclasses.fields(part)}
    return {name: found[name] for name in sorted(found, key=lambda name: place.get(name, 0))}


_ALL_SETTINGS: Mapping[str, Setting] = MappingProxyType(_collect_settings())
