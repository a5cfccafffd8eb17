"""Every section and key with its default. Frozen; checked when it is built; a key that nobody knows is an error."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sandbox_runtime.mcp.config import images
from sandbox_runtime.mcp.config.quantities import Cores, Seconds, SizeBytes

DEFAULT_TOOLS = (
    "create_sandbox", "list_sandboxes", "terminate_sandbox", "exec_command", "run_code",
    "upload_file", "download_file", "list_files", "read_file", "write_file",
)  # fmt: skip
ALL_TOOLS = "all"
"""In enabled_tools: every tool there is."""

_SENSITIVE = ("PASSWORD", "SECRET", "TOKEN", "API_KEY", "PRIVATE_KEY")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Time = Annotated[Seconds, Field(gt=0, le=30 * 86_400)]


def _known_image(image: str) -> str:
    if not images.is_known(image):
        raise ValueError(images.complaint(image))
    return image


def _split(command: str) -> str:
    """A command that can be split into words, as exec_command does it."""
    if not shlex.split(command):
        raise ValueError("a command names a program")
    return command


_Folder = Annotated[str, Field(pattern=r"^/[^:\x00]{0,1000}$")]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerSection(_Section):
    name: Annotated[str, Field(min_length=1, max_length=200)] = "SandboxRunner MCP Server"
    version: str = "1.0.0"
    protocol: Literal["stdio", "http"] = "stdio"
    address: str = "localhost"
    port: Annotated[int, Field(ge=1, le=65_535)] = 3000
    read_timeout: Time = 30.0
    write_timeout: Time = 30.0
    enable_http: bool = False


class DefaultResources(_Section):
    cpu_limit: Cores = "1.0"
    memory_limit: SizeBytes = 1024**3
    disk_limit: SizeBytes = 10 * 1024**3


class SandboxSection(_Section):
    workspace_dir: str = "/tmp/sandboxrunner/workspaces"
    database_path: str = "/tmp/sandboxrunner/sandboxes.db"
    default_image: Annotated[str, AfterValidator(_known_image)] = "ubuntu:22.04"
    default_resources: DefaultResources = DefaultResources()
    environment: dict[str, str] = Field(default_factory=lambda: {"PATH": _PATH, "DEBIAN_FRONTEND": "noninteractive"})
    network_mode: Literal["none", "bridge", "host"] = "none"
    enable_logging: bool = True
    cleanup_interval: Time = 300.0
    max_sandboxes: Count = 10


class LoggingSection(_Section):
    level: Literal["debug", "info", "warn", "error"] = "info"
    format: Literal["json", "text", "console"] = "json"
    output_file: str = ""
    max_size: Count = 100
    max_backups: Annotated[int, Field(ge=0, le=10_000)] = 3
    max_age: Annotated[int, Field(ge=0, le=100_000)] = 28
    compress: bool = True


class CacheSection(_Section):
    database_path: str = "/tmp/sandboxrunner/cache.db"
    max_entries: Count = 10_000
    default_ttl: Time = 86_400.0
    cleanup_interval: Time = 3600.0
    compression_level: Annotated[int, Field(ge=0, le=9)] = 6
    compression_min: SizeBytes = 1024
    enable_warming: bool = False
    warm_commands: Annotated[tuple[Annotated[str, AfterValidator(_split)], ...], Field(max_length=100)] = ()
    max_cache_size: SizeBytes = 100 * 1024**2


class StreamingSection(_Section):
    buffer_size: SizeBytes = 64 * 1024
    flush_interval: Time = 0.1
    max_chunk_size: Annotated[SizeBytes, Field(ge=16, le=1024**2)] = 32 * 1024
    enable_ansi: bool = True
    filter_ansi: bool = False
    detect_progress: bool = True
    enable_json: bool = True
    compress: bool = False
    compression_min: SizeBytes = 1024


class EnvironmentSection(_Section):
    expand_variables: bool = True
    filter_sensitive: bool = True
    custom_paths: Annotated[tuple[_Folder, ...], Field(max_length=50)] = ()
    default_shell: _Folder = "/bin/bash"
    default_user: str = "root"
    sensitive_patterns: tuple[str, ...] = _SENSITIVE


class ToolsSection(_Section):
    enabled_tools: tuple[str, ...] = DEFAULT_TOOLS
    disabled_tools: tuple[str, ...] = ()
    default_timeout: Annotated[Seconds, Field(gt=0, le=300)] = 30.0
    max_output_size: Annotated[SizeBytes, Field(ge=1024, le=64 * 1024**2)] = 1024**2
    custom_tools: dict[str, Any] = Field(default_factory=dict)
    validation_level: Literal["strict", "moderate", "permissive"] = "strict"
    enable_streaming: bool = True
    enable_caching: bool = True
    cache: CacheSection = CacheSection()
    streaming: StreamingSection = StreamingSection()
    environment: EnvironmentSection = EnvironmentSection()


class ResourcesSection(_Section):
    max_file_size: Annotated[SizeBytes, Field(ge=1024, le=1024**3)] = 10 * 1024**2
    max_files: Annotated[int, Field(ge=1, le=10_000)] = 1000
    temp_dir: str = "/tmp/sandboxrunner/temp"
    cache_dir: str = "/tmp/sandboxrunner/cache"
    cleanup_on_exit: bool = True


class McpConfig(_Section):
    server: ServerSection = ServerSection()
    sandbox: SandboxSection = SandboxSection()
    logging: LoggingSection = LoggingSection()
    tools: ToolsSection = ToolsSection()
    resources: ResourcesSection = ResourcesSection()
