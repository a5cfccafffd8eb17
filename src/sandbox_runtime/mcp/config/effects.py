"""What each key does, and where. Every key is here: a test holds this to the sections, and the guide to this.

A key that is set and has no effect where it is set is told when the server starts: see ineffective_keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from pydantic import BaseModel

from sandbox_runtime.mcp.config.model import McpConfig


class Where(StrEnum):
    """everywhere: in `sandbox serve` too. local: likewise, but not with --server. process: of mcp-sandboxd's own. engine: of its
    own engine, so not with --server. http: over HTTP and WebSocket. nowhere: it describes what this product does otherwise."""

    everywhere = "everywhere"
    local = "local"
    process = "process"
    engine = "engine"
    http = "http"
    nowhere = "nowhere"


class Effect(NamedTuple):
    where: Where
    description: str


class RunMode(NamedTuple):
    """How the keys are used: mounted in `sandbox serve`, or with --server, or over HTTP."""

    mounted: bool = False
    remote: bool = False
    http: bool = False


_E, _L, _P, _N, _H, _O = Where.everywhere, Where.local, Where.process, Where.engine, Where.http, Where.nowhere
EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        "server.name": Effect(_E, "the name that clients are told"),
        "server.version": Effect(_E, "the version that clients are told; left at its default, it is that of the product"),
        "server.protocol": Effect(_P, "stdio or http, as --http"),
        "server.address": Effect(_P, "what is listened on over HTTP; beyond this machine it takes keys"),
        "server.port": Effect(_P, "the port over HTTP"),
        "server.read_timeout": Effect(_H, "how long a request may take to arrive; 408 then"),
        "server.write_timeout": Effect(_H, "how long a client may take for a piece of an answer; the connection ends then"),
        "server.enable_http": Effect(_P, "as --http"),
        "sandbox.workspace_dir": Effect(_P, "where each process makes the folder for what it keeps"),
        "sandbox.database_path": Effect(_N, "the database; left at its default, each process has one of its own"),
        "sandbox.default_image": Effect(
            _E, "the image that a sandbox is told to have; names of usual images are known, any other is refused"
        ),
        "sandbox.default_resources.cpu_limit": Effect(_E, "cores of a sandbox that names none, where it is not at its default"),
        "sandbox.default_resources.memory_limit": Effect(_E, "memory of such a sandbox, likewise"),
        "sandbox.default_resources.disk_limit": Effect(_E, "room for the files of such a sandbox, likewise"),
        "sandbox.environment": Effect(_E, "variables of every sandbox; PATH alone stays what the host's toolchains need"),
        "sandbox.network_mode": Effect(_E, "none; bridge and host both give a network behind NAT, where the host allows it"),
        "sandbox.enable_logging": Effect(_E, "a line in the log for each call of a tool: its name, sandbox, time, error code"),
        "sandbox.cleanup_interval": Effect(_N, "how often sandboxes whose time is over are looked for"),
        "sandbox.max_sandboxes": Effect(_P, "how many there may be at once; in `sandbox serve` settings and keys say that"),
        "logging.level": Effect(_P, "what is logged"),
        "logging.format": Effect(_P, "json, or text; console is text"),
        "logging.output_file": Effect(_P, "the file that lines go to instead of stderr"),
        "logging.max_size": Effect(_P, "MiB at which that file is put aside"),
        "logging.max_backups": Effect(_P, "how many files put aside are kept; 0: all"),
        "logging.max_age": Effect(_P, "days after which they go; 0: never"),
        "logging.compress": Effect(_P, "whether they are compressed"),
        "tools.enabled_tools": Effect(_E, "the tools there are; all: every one"),
        "tools.disabled_tools": Effect(_E, "those of them that there are not"),
        "tools.default_timeout": Effect(_E, "of exec_command and run_code, where a call names none"),
        "tools.max_output_size": Effect(_E, "bytes of output in an answer; of more, head and tail"),
        "tools.custom_tools": Effect(_O, "tools cannot be made from a configuration here"),
        "tools.validation_level": Effect(_E, "how much the word filter of run_code refuses"),
        "tools.enable_streaming": Effect(_E, "whether output is told while a program runs"),
        "tools.enable_caching": Effect(_L, "whether results may be told again, see below"),
        "tools.cache.database_path": Effect(_L, "where results are kept; left at its default, with the rest of the process"),
        "tools.cache.max_entries": Effect(_L, "how many are kept"),
        "tools.cache.default_ttl": Effect(_L, "how long they are"),
        "tools.cache.cleanup_interval": Effect(_L, "how often those that are too old go"),
        "tools.cache.compression_level": Effect(_L, "0 to 9"),
        "tools.cache.compression_min": Effect(_L, "bytes from which on a result is compressed"),
        "tools.cache.enable_warming": Effect(_L, "whether warm_commands are run once when the server starts"),
        "tools.cache.warm_commands": Effect(_L, "commands whose results may be told again without the caller's word"),
        "tools.cache.max_cache_size": Effect(_L, "bytes that all of them may take"),
        "tools.streaming.buffer_size": Effect(_E, "characters that wait for a slow client; the newest are kept"),
        "tools.streaming.flush_interval": Effect(_E, "how often what was printed is sent on"),
        "tools.streaming.max_chunk_size": Effect(_E, "characters in one message"),
        "tools.streaming.enable_ansi": Effect(_E, "off: colours and movements of the cursor are taken out"),
        "tools.streaming.filter_ansi": Effect(_E, "on: the same"),
        "tools.streaming.detect_progress": Effect(_E, "whether 40% or 4/10 in the output is told as progress"),
        "tools.streaming.enable_json": Effect(_E, "items as JSON objects; off: the bare text"),
        "tools.streaming.compress": Effect(_E, "items as base64 of gzip, marked with encoding"),
        "tools.streaming.compression_min": Effect(_E, "bytes from which on they are"),
        "tools.environment.expand_variables": Effect(_E, "$NAME and ${NAME} in values of variables; $$ is a dollar"),
        "tools.environment.filter_sensitive": Effect(_E, "whether values of sensitive variables are told as ***"),
        "tools.environment.custom_paths": Effect(_E, "folders in which commands are looked for first"),
        "tools.environment.default_shell": Effect(_E, "the variable SHELL of sandboxes, where it is not at its default"),
        "tools.environment.default_user": Effect(_O, "programs run as a user of the box's own, who has no rights outside of it"),
        "tools.environment.sensitive_patterns": Effect(_E, "what the names of sensitive variables hold"),
        "resources.max_file_size": Effect(_E, "bytes of one file through tools and resources"),
        "resources.max_files": Effect(_E, "files in one answer of list_files, and beside one program"),
        "resources.temp_dir": Effect(_P, "for what is temporary, where it is not at its default"),
        "resources.cache_dir": Effect(_L, "where kept results lie, where it is not at its default and cache.database_path is"),
        "resources.cleanup_on_exit": Effect(_P, "whether the folder below workspace_dir goes with its process"),
    }
)
_REASONS = {
    Where.local: "the sandboxes are those of another server",
    Where.process: "it is of mcp-sandboxd's own: here the settings of the server say it",
    Where.engine: "it is for an engine of mcp-sandboxd's own",
    Where.http: "it is for HTTP and WebSocket",
}


def ineffective_keys(config: McpConfig, mode: RunMode) -> dict[str, str]:
    """Keys that were set and have no effect, each with why."""
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
