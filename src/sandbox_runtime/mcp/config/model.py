"""Sections and keys with their defaults. Validated on construction; unknown keys are errors."""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from sandbox_runtime.quantities import format_seconds, parse_bytes, parse_cpu, parse_seconds

DEFAULT_TOOLS = (
    "create_sandbox", "list_sandboxes", "terminate_sandbox", "exec_command", "run_code",
    "upload_file", "download_file", "list_files", "read_file", "write_file",
)  # fmt: skip
ALL_TOOLS = "all"
"""In enabled_tools: every tool."""

_SENSITIVE = ("PASSWORD", "SECRET", "TOKEN", "API_KEY", "PRIVATE_KEY")
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KNOWN_IMAGES = (
    "ubuntu", "debian", "alpine", "fedora", "busybox", "buildpack-deps", "sandbox-runtime",
    "python", "node", "golang", "rust", "openjdk", "eclipse-temurin", "gcc", "dotnet/sdk", "ruby", "php",
    "r-base", "perl", "bash",
)  # fmt: skip
"""Accepted image names. No image is ever pulled: every sandbox has the languages of its host."""
_IMAGE = re.compile(r"(?:[a-z0-9.-]+(?::\d+)?/)?(?:library/)?([a-z0-9._/-]+?)(?::[\w.-]{1,128})?(?:@sha256:[0-9a-f]{64})?")
_MAX_IMAGE_CHARACTERS = 512


def is_known_image(image: str) -> bool:
    """Any tag is accepted: a host has one version of each language."""
    match = _IMAGE.fullmatch(image) if len(image) <= _MAX_IMAGE_CHARACTERS else None
    return match is not None and match[1] in KNOWN_IMAGES


def unknown_image_error(image: str) -> str:
    known = ", ".join(KNOWN_IMAGES)
    return f"unknown image {image[:100]!r}: sandboxes have the languages of this host; omit it, or use one of {known}"


def _check_cores(value: object) -> str:
    """Return the text unchanged. Raises InvalidQuantity."""
    parse_cpu(value, "cpu_limit")
    return str(value)


Seconds = Annotated[float, BeforeValidator(lambda value: parse_seconds(value)), PlainSerializer(format_seconds, return_type=str)]
"""A number of seconds, or a text such as "30s" or "5m"."""
SizeBytes = Annotated[int, BeforeValidator(lambda value: parse_bytes(value))]
"""A number of bytes, or a text such as "64K" or "1.5G"."""
Cores = Annotated[str, BeforeValidator(_check_cores)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Time = Annotated[Seconds, Field(gt=0, le=30 * 86_400)]


def _check_image(image: str) -> str:
    if not is_known_image(image):
        raise ValueError(unknown_image_error(image))
    return image


def _check_command(command: str) -> str:
    """Check that the command can be split into words, as exec_command does."""
    if not shlex.split(command):
        raise ValueError("the command is empty: name a program")
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
    default_image: Annotated[str, AfterValidator(_check_image)] = "ubuntu:22.04"
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
    warm_commands: Annotated[tuple[Annotated[str, AfterValidator(_check_command)], ...], Field(max_length=100)] = ()
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
