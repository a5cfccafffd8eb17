"""What each configuration key does, and in which mode. A test compares this table with the sections and with the guide.

At start-up the server warns about keys that are set but have no effect in its mode: see ineffective_keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from pydantic import BaseModel

from sandbox_runtime.mcp.config.model import McpConfig


class Where(StrEnum):
    """The mode in which a key has an effect."""

    everywhere = "everywhere"
    """In mcp-sandboxd and `sandbox serve`."""
    local = "local"
    """As everywhere, but not with --server."""
    process = "process"
    """In mcp-sandboxd only."""
    engine = "engine"
    """In mcp-sandboxd with its own engine, so not with --server."""
    http = "http"
    """Over HTTP and WebSocket."""
    nowhere = "nowhere"
    """Accepted for compatibility, without effect."""


class Effect(NamedTuple):
    where: Where
    description: str


class RunMode(NamedTuple):
    """How the server runs."""

    mounted: bool = False
    """Inside `sandbox serve`."""
    remote: bool = False
    """With --server."""
    http: bool = False
    """Over HTTP."""


_E, _L, _P, _N, _H, _O = Where.everywhere, Where.local, Where.process, Where.engine, Where.http, Where.nowhere
EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        "server.name": Effect(_E, "the server name sent to clients"),
        "server.version": Effect(_E, "the version sent to clients; the default stands for the product version"),
        "server.protocol": Effect(_P, "stdio or http, as --http"),
        "server.address": Effect(_P, "the listen address over HTTP; other than localhost requires keys"),
        "server.port": Effect(_P, "the port over HTTP"),
        "server.read_timeout": Effect(_H, "how long a request may take to arrive; then 408"),
        "server.write_timeout": Effect(
            _H, "how long a client may take to receive a piece of a response; then the connection is closed"
        ),
        "server.enable_http": Effect(_P, "as --http"),
        "sandbox.workspace_dir": Effect(_P, "where each process creates its data folder"),
        "sandbox.database_path": Effect(_N, "the database; the default stands for a separate one per process"),
        "sandbox.default_image": Effect(
            _E, "the image name reported for a sandbox; common image names are accepted, others are refused"
        ),
        "sandbox.default_resources.cpu_limit": Effect(
            _E, "cores of a sandbox created without cpu_limit; the default stands for the host's own"
        ),
        "sandbox.default_resources.memory_limit": Effect(_E, "memory of such a sandbox, likewise"),
        "sandbox.default_resources.disk_limit": Effect(_E, "disk space of such a sandbox, likewise"),
        "sandbox.environment": Effect(
            _E, "variables of every sandbox; PATH is ignored, because the host's toolchains need their own"
        ),
        "sandbox.network_mode": Effect(
            _E, "none, bridge or host; bridge and host both give a network behind NAT, if the host allows it"
        ),
        "sandbox.enable_logging": Effect(_E, "log a line for each tool call: name, sandbox, duration, error code"),
        "sandbox.cleanup_interval": Effect(_N, "how often expired sandboxes are removed"),
        "sandbox.max_sandboxes": Effect(_P, "concurrent sandboxes; in `sandbox serve` settings and keys limit them"),
        "logging.level": Effect(_P, "the minimum log level"),
        "logging.format": Effect(_P, "json or text; console is text"),
        "logging.output_file": Effect(_P, "the log file, instead of stderr"),
        "logging.max_size": Effect(_P, "MiB at which the log file is rotated"),
        "logging.max_backups": Effect(_P, "rotated files to keep; 0: all"),
        "logging.max_age": Effect(_P, "days to keep rotated files; 0: forever"),
        "logging.compress": Effect(_P, "compress rotated files"),
        "tools.enabled_tools": Effect(_E, "the available tools; all: every tool"),
        "tools.disabled_tools": Effect(_E, "tools to remove from enabled_tools"),
        "tools.default_timeout": Effect(_E, "timeout of exec_command and run_code when a call gives none"),
        "tools.max_output_size": Effect(_E, "bytes of output in a response; of longer output, head and tail"),
        "tools.custom_tools": Effect(_O, "tools cannot be defined in the configuration"),
        "tools.validation_level": Effect(_E, "how much the word filter of run_code refuses"),
        "tools.enable_streaming": Effect(_E, "send output while a program runs"),
        "tools.enable_caching": Effect(_L, "allow cached results, see below"),
        "tools.cache.database_path": Effect(_L, "the database of cached results; the default stands for the process's own"),
        "tools.cache.max_entries": Effect(_L, "maximum number of results"),
        "tools.cache.default_ttl": Effect(_L, "how long a result is kept"),
        "tools.cache.cleanup_interval": Effect(_L, "how often expired results are removed"),
        "tools.cache.compression_level": Effect(_L, "0 to 9"),
        "tools.cache.compression_min": Effect(_L, "compress results from this many bytes on"),
        "tools.cache.enable_warming": Effect(_L, "run warm_commands once at start-up"),
        "tools.cache.warm_commands": Effect(_L, "commands that are cached without the caller's permission"),
        "tools.cache.max_cache_size": Effect(_L, "maximum size of all results in bytes"),
        "tools.streaming.buffer_size": Effect(_E, "characters buffered for a slow client; the newest are kept"),
        "tools.streaming.flush_interval": Effect(_E, "how often output is sent"),
        "tools.streaming.max_chunk_size": Effect(_E, "characters in one message"),
        "tools.streaming.enable_ansi": Effect(_E, "off: remove colours and cursor movements"),
        "tools.streaming.filter_ansi": Effect(_E, "on: the same"),
        "tools.streaming.detect_progress": Effect(_E, "report 40% or 4/10 in the output as progress"),
        "tools.streaming.enable_json": Effect(_E, "send items as JSON objects; off: bare text"),
        "tools.streaming.compress": Effect(_E, "send items as base64 of gzip, marked with encoding"),
        "tools.streaming.compression_min": Effect(_E, "compress items from this many bytes on"),
        "tools.environment.expand_variables": Effect(_E, "expand $NAME and ${NAME} in values of variables; $$ is a dollar sign"),
        "tools.environment.filter_sensitive": Effect(_E, "show values of sensitive variables as ***"),
        "tools.environment.custom_paths": Effect(_E, "folders searched first for commands"),
        "tools.environment.default_shell": Effect(_E, "the variable SHELL of sandboxes, unless left at its default"),
        "tools.environment.default_user": Effect(_O, "programs run as the box's own unprivileged user"),
        "tools.environment.sensitive_patterns": Effect(_E, "substrings of the names of sensitive variables"),
        "resources.max_file_size": Effect(_E, "bytes of one file in tools and resources"),
        "resources.max_files": Effect(_E, "files in one response of list_files, and in one run_ call"),
        "resources.temp_dir": Effect(_P, "folder for temporary files, unless left at its default"),
        "resources.cache_dir": Effect(_L, "folder of cached results, unless left at its default or cache.database_path is set"),
        "resources.cleanup_on_exit": Effect(_P, "remove the folder below workspace_dir when the process exits"),
    }
)
_REASONS = {
    Where.local: "the sandboxes belong to a remote server",
    Where.process: "it applies to mcp-sandboxd only; the settings of the server apply here",
    Where.engine: "it applies to mcp-sandboxd with its own engine only",
    Where.http: "it applies to HTTP and WebSocket only",
}


def ineffective_keys(config: McpConfig, mode: RunMode) -> dict[str, str]:
    """Return configured keys without effect in this mode, each with the reason."""
    return {key: reason for key in _changed_keys(config) if (reason := _reason(EFFECTS[key], mode))}


def _reason(effect: Effect, mode: RunMode) -> str:
    if effect.where is Where.nowhere:
        return effect.description
    acts = {
        Where.everywhere: True,
        Where.local: not mode.remote,
        Where.process: not mode.mounted,
        Where.engine: not mode.mounted and not mode.remote,
        Where.http: mode.http,
    }
    return "" if acts[effect.where] else _REASONS[effect.where]


def _changed_keys(config: McpConfig) -> list[str]:
    defaults = dict(_values(McpConfig(), ""))
    return [key for key, value in _values(config, "") if value != defaults[key]]


def _values(section: BaseModel, before: str) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for name in type(section).model_fields:
        value = getattr(section, name)
        pairs += _values(value, f"{before}{name}.") if isinstance(value, BaseModel) else [(f"{before}{name}", value)]
    return pairs
