"""Every knob once, and Settings, which holds a value for each. Defaults that depend on the machine are worked out here."""

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
from sandbox_runtime.settings.setting import Setting, check, setting
from sandbox_runtime.settings.storage_settings import StorageSettings

KIB, MIB, GIB = 1024, 1024**2, 1024**3


def _checkout() -> Path:
    """Where this package lies when it is used from its sources."""
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
    """A folder that only this user can write: root's own, the session's runtime folder, or one by user id below /tmp."""
    if os.geteuid() == 0:
        return "/run/sandbox-runtime"
    session = f"/run/user/{os.geteuid()}"
    return f"{session}/sandbox-runtime" if os.path.isdir(session) else f"/tmp/sandbox-runtime-{os.geteuid()}"


@dataclass(frozen=True, kw_only=True)
class Settings(
    SessionSettings, AccessSettings, JudgeSettings, DatasetSettings, BatchSettings, StorageSettings, ConnectionSettings
):
    host: str = setting("127.0.0.1", "address", "Address the server listens on. Anything but loopback needs keys.", "server")
    port: int = setting(8080, "port", "Port the server listens on.", "server", low=0, high=65535)
    api_key: str = setting(
        "",
        "text",
        "Key that clients send as `Authorization: Bearer` or `X-API-Key`. Empty: loopback only, no key asked.",
        "server",
        secret=True,
    )
    log_level: str = setting(
        "info", "level", "Least weight of what is logged.", "server", choices=("debug", "info", "warning", "error")
    )
    log_format: str = setting("text", "format", "How log lines are written.", "server", choices=("text", "json"))
    log_color: bool = setting(False, "yes or no", "Colour the log lines of the text format.", "server")
    pod_name: str = setting(
        "", "text", "Name of this machine told in answers (executor_pod_name).", "server", environment="MY_POD_NAME"
    )

    isolation: str = setting(
        "namespaces",
        "backend",
        "How boxes are isolated. `none` is for development only and is told in every answer. `lite` means `namespaces`.",
        "isolation",
        choices=("namespaces", "bubblewrap", "none"),
        value_aliases=(("lite", "namespaces"),),
    )
    allow_network: bool = setting(
        False, "yes or no", "Let programs reach the outside, never the host's own, private or link-local addresses.", "isolation"
    )
    network_allow: tuple[str, ...] = setting(
        (), "addresses", "Addresses or CIDR blocks that programs may reach although private; needs allow_network.", "isolation"
    )
    network_refuse: tuple[str, ...] = setting(
        (), "addresses", "Addresses or CIDR blocks that programs may not reach although public; for allow_network.", "isolation"
    )
    network_dns: bool = setting(
        False,
        "yes or no",
        "Let programs ask the host's resolvers even where their addresses are private, on port 53.",
        "isolation",
    )
    network_nameservers: tuple[str, ...] = setting(
        (), "addresses", "Resolvers that programs are told of instead of the host's.", "isolation"
    )
    guest_check_s: float = setting(
        5.0,
        "seconds",
        "How often to look whether the guest's interpreter was upgraded: boxes opened afterwards have the new one.",
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
        "Modules that are loaded before a Python program arrives: `std` (those of the standard library that are used most), "
        "`data` (also numpy and pandas), `plot` (also matplotlib), or a list of modules beside the standard ones.",
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
        "First of the user ids that boxes get on the host when the server runs as root; nobody else may have them.",
        "isolation",
        low=1000,
        high=2**31,
    )

    cpu_quota: float = setting(2.0, "cores", "Processor time a program may use at once.", "limits", low=0.01, high=4096)
    memory_limit: int = setting(
        131072, "KB", "Memory of a program whose request sets none.", "limits", low=4096, high=1024 * 1024 * 1024
    )
    memory_ceiling: int = setting(
        _memory_ceiling,
        "bytes",
        "Most memory a request can ask for; also what a request without a memory limit gets.",
        "limits",
        low=4 * MIB,
        high=1024 * GIB,
        default_text="4 GiB, or the machine's memory if that is less",
    )
    timeout_seconds: float = setting(
        300.0, "seconds", "Wall time of a program whose request sets none.", "limits", low=0.001, high=86_400
    )
    timeout_ceiling: float = setting(
        3600.0, "seconds", "Longest wall time a request can ask for.", "limits", low=0.001, high=86_400
    )
    process_limit: int = setting(128, "processes", "Processes and threads of a program at once.", "limits", low=1, high=100_000)
    output_limit: int = setting(
        64 * MIB, "bytes", "Output after which a program is stopped, both streams together.", "limits", low=1, high=16 * GIB
    )
    output_keep_bytes: int = setting(
        8 * MIB, "bytes", "What is kept of each output stream: its head and its tail.", "limits", low=2, high=GIB
    )
    disk_limit: int = setting(256 * MIB, "bytes", "Size of everything a program writes.", "limits", low=64 * KIB, high=1024 * GIB)
    file_limit: int = setting(65_536, "files", "Files and folders a program may create.", "limits", low=16, high=100_000_000)

    pool_size: int = setting(2, "boxes", "Boxes kept ready at the least.", "pool", low=0, high=10_000)
    pool_max: int = setting(32, "boxes", "Boxes kept ready at the most, when demand was high.", "pool", low=0, high=10_000)
    notebook_pool_size: int = setting(
        2, "kernels", "Notebook kernels kept up, from the first notebook on and while more come.", "pool", low=0, high=1000
    )
    started_pool_size: int = setting(
        2,
        "boxes",
        "Boxes with an interpreter started in them, for each language that can be (JavaScript), while it is in use.",
        "pool",
        low=0,
        high=1000,
    )
    max_concurrency: int = setting(
        _max_concurrency,
        "runs",
        "Programs that run at once; more wait in the queue.",
        "pool",
        low=1,
        high=100_000,
        default_text="4 for each core, at least 16",
    )
    queue_size: int = setting(
        1024, "requests", "Requests that may wait; more are refused at once.", "pool", low=0, high=1_000_000
    )
    queue_wait_s: float = setting(30.0, "seconds", "Longest wait in the queue; then it is refused.", "pool", low=0, high=3600)

    max_request_bytes: int = setting(64 * MIB, "bytes", "Largest request body.", "bounds", low=1024, high=4 * GIB)
    max_request_values: int = setting(
        200_000,
        "values",
        "JSON values in one request body, about: parsing many small ones takes far longer than one long text.",
        "bounds",
        low=1000,
        high=1_000_000_000,
    )
    max_code_bytes: int = setting(4 * MIB, "bytes", "Largest program text.", "bounds", low=1, high=GIB)
    max_stdin_bytes: int = setting(32 * MIB, "bytes", "Largest standard input.", "bounds", low=0, high=GIB)
    max_files: int = setting(256, "files", "Files in one request, and files fetched by one.", "bounds", low=0, high=100_000)
    max_file_bytes: int = setting(32 * MIB, "bytes", "Largest single file, in and out.", "bounds", low=0, high=4 * GIB)

    toolchains_dir: str = setting(
        _toolchains_dir,
        "path",
        "Folder into which `sandbox languages install` puts toolchains; boxes of languages that need it see it read-only.",
        "languages",
        default_text="`.state/toolchains` of the checkout, otherwise a folder of the user that runs the server",
    )
    build_cache_bytes: int = setting(
        GIB,
        "bytes",
        "What the builds kept for the next same job may take on disk, all together; 0: none are kept.",
        "languages",
        low=0,
        high=1024 * GIB,
    )
    build_cache_entry_bytes: int = setting(
        32 * MIB, "bytes", "Largest build that is kept, all its files together.", "languages", low=0, high=4 * GIB
    )
    build_cache_dir: str = setting(
        "",
        "path",
        "Folder for builds, closed to all but the server's user.",
        "languages",
        default_text="`builds` in state_dir where that is set, otherwise `/var/cache/sandbox-runtime/builds` as root and "
        "`~/.cache/sandbox-runtime/builds` as another user",
    )
    check_languages: bool = setting(
        True,
        "yes or no",
        "Run the check of every language in the background after the start; otherwise each before its first use.",
        "languages",
    )
    languages_dir: str = setting(
        "",
        "path",
        "Folder with your own language files (*.toml), added to the built-in ones or replacing them by name.",
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
    database_pool_size: int = setting(20, "connections", "Kept open to a database server.", "store", low=1, high=1000)
    database_pool_overflow: int = setting(40, "connections", "Opened beyond these when all are busy.", "store", low=0, high=1000)
    database_pool_recycle_s: int = setting(
        3600, "seconds", "Age at which a connection to a database server is replaced.", "store", low=1, high=86_400
    )

    workspace_expiration_time: float = setting(
        86_400.0,
        "seconds",
        "How long a session of the workspace interface that nobody uses is kept.",
        "workspace",
        low=1,
        high=30 * 86_400,
        environment="WORKSPACE_EXPIRATION_TIME",
    )
    efast_downloader_url: str = setting(
        "",
        "URL",
        "Document server from which sessions may be given files (download_from_efast). Empty: from none.",
        "workspace",
        environment="EFAST_DOWNLOADER_URL",
    )
    downloader_timeout: float = setting(
        300.0,
        "seconds",
        "Longest download from the document server, all files of a request together.",
        "workspace",
        low=1,
        high=3600,
        environment="DOWNLOADER_TIMEOUT",
    )

    dataset: DatasetConfig = field(default_factory=DatasetConfig)
    """Of the configuration file that SANDBOX_CONFIG names; no setting, since it is more than a value."""
    origin: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    """Setting name → where its value came from: "default", "file /etc/…", "environment SANDBOX_…", "flag", "SANDBOX_CONFIG …"."""

    def __post_init__(self) -> None:
        for name, declared in all_settings().items():
            check(getattr(self, name), declared, name, self.origin.get(name, "the call"))

    @property
    def builds_dir(self) -> str:
        """Not with the rest of the state by default, because that lies in memory on most machines."""
        if self.build_cache_dir:
            return self.build_cache_dir
        if self.state_dir != _state_dir():
            return f"{self.state_dir}/builds"
        cache = Path("/var/cache") if os.geteuid() == 0 else Path.home() / ".cache"
        return str(cache / "sandbox-runtime" / "builds")

    @property
    def store_url(self) -> str:
        """Not with the rest of the state by default, because that is gone when the machine starts anew."""
        return self.database_url or f"sqlite:///{self.data_dir}/store/store.db"

    @property
    def data_dir(self) -> str:
        """For what outlives the machine's next start."""
        if self.state_dir != _state_dir():
            return self.state_dir
        kept = Path("/var/lib") if os.geteuid() == 0 else Path.home() / ".local" / "share"
        return str(kept / "sandbox-runtime")

    @property
    def files_dir(self) -> str:
        return self.storage_dir or f"{self.data_dir}/store/files"

    @property
    def tables_dir(self) -> str:
        """Where the rows of datasets are."""
        return self.datasets_dir or f"{self.data_dir}/datasets"

    @property
    def batches_dir(self) -> str:
        return f"{self.data_dir}/store/batches"

    @property
    def effective_datalake_url(self) -> str:
        """The URL of the database with rows of datasets, from wherever it was named; empty: there is none."""
        return self.datalake_url or self.dataset.database.url

    @property
    def requires_keys(self) -> bool:
        return bool(self.api_key) or self.require_keys

    @property
    def exposed(self) -> bool:
        """Whether others than this machine can reach the server."""
        return self.host not in ("localhost", "::1") and not self.host.startswith("127.")


def all_settings() -> Mapping[str, Setting]:
    return _ALL_SETTINGS


def _collect_settings() -> dict[str, Setting]:
    """Those of the whole server first, then datasets and the judge, then who may use it, then sessions."""
    found = {entry.name: entry.metadata["setting"] for entry in dataclasses.fields(Settings) if "setting" in entry.metadata}
    parts = (DatasetSettings, JudgeSettings, AccessSettings, SessionSettings)
    place = {entry.name: number for number, part in enumerate(parts, 1) for entry in dataclasses.fields(part)}
    return {name: found[name] for name in sorted(found, key=lambda name: place.get(name, 0))}


_ALL_SETTINGS: Mapping[str, Setting] = MappingProxyType(_collect_settings())
