"""Environment names that deployments of the control plane use: without a prefix, in any case, from the environment or a file
called .env. A SANDBOX_ name takes precedence.

DIRECT names set a setting as it is, CONVERTED ones in another unit; some set several settings. IGNORED lists names without effect
here (WORKERS: one process serves all cores; SECRET_KEY: no signature outlives the process), so that the reference can list them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.quantities import parse_bytes

ENV_FILE = ".env"
_MAX_ENV_FILE_BYTES = 64 * 1024
_TEMPLATE_POOL = re.compile(r"WARM_POOL_([A-Z0-9_]+)_SIZE")
_DEFAULT_POOL_NAMES = frozenset({"WARM_POOL_DEFAULT_SIZE", "WARM_POOL_MIN_SIZE"})
_DEFAULT_RATE = "60"
_TRUE = ("1", "true", "yes", "on")
_DATABASE_KINDS = {"mysql": "mysql", "mariadb": "mysql", "postgresql": "postgresql", "postgres": "postgresql"}
_DATABASE_PARTS = ("DB_TYPE", "DB_HOST", "DB_PORT", "DB_USER", "DB_PASSWORD", "DB_DATABASE")

Converter = Callable[[str], object]


def _scaled(factor: float) -> Converter:
    """Scale a number. Negative values mean "never" under these names and become 0."""
    return lambda text: str(max(0.0, float(text)) * factor)


def _bytes(text: str) -> int:
    return parse_bytes(text, decimal=True)


def _list(text: str) -> object:
    """Parse a list in JSON or separated by commas."""
    return json.loads(text) if text.lstrip().startswith("[") else text


def _level(text: str) -> str:
    word = text.strip().lower()
    return {"warn": "warning", "critical": "error", "fatal": "error"}.get(word, word)


DIRECT: Mapping[str, str] = MappingProxyType(
    {
        "HOST": "host",
        "PORT": "port",
        "DATABASE_URL": "database_url",
        "DB_POOL_SIZE": "database_pool_size",
        "DB_MAX_OVERFLOW": "database_pool_overflow",
        "DB_POOL_RECYCLE": "database_pool_recycle_s",
        "S3_BUCKET": "s3_bucket",
        "S3_REGION": "s3_region",
        "S3_ACCESS_KEY_ID": "s3_access_key_id",
        "S3_SECRET_ACCESS_KEY": "s3_secret_access_key",
        "S3_ENDPOINT_URL": "s3_endpoint_url",
        "S3_PREFIX": "s3_prefix",
        "DEFAULT_TIMEOUT": "timeout_seconds",
        "MAX_TIMEOUT": "timeout_ceiling",
        "DEFAULT_CPU": "cpu_quota",
        "CLEANUP_INTERVAL_SECONDS": "session_cleanup_s",
        "CREATING_TIMEOUT_SECONDS": "session_creating_s",
        "MAX_RETRY_ATTEMPTS": "session_retries",
        "RETRY_BACKOFF_BASE": "session_retry_first_s",
        "MAX_RETRY_BACKOFF": "session_retry_longest_s",
        "HEARTBEAT_INTERVAL_SECONDS": "session_heartbeat_s",
        "HEARTBEAT_TIMEOUT_SECONDS": "node_silent_s",
        "WARM_POOL_ENABLED": "warm_pool_enabled",
        "WARM_POOL_DEFAULT_SIZE": "warm_pool_size",
        "WARM_POOL_MIN_SIZE": "warm_pool_min_size",
        "WARM_POOL_MAX_IDLE_TIME": "warm_pool_max_idle_s",
        "LOG_FORMAT": "log_format",
        "INTERNAL_API_TOKEN": "internal_api_token",
        "DEFAULT_TEMPLATE_IMAGE": "session_template_image",
    }
)
CONVERTED: Mapping[str, tuple[str, Converter]] = MappingProxyType(
    {
        "LOG_LEVEL": ("log_level", _level),
        "DEFAULT_MEMORY": ("memory_limit", lambda text: _bytes(text) // 1024),
        "DEFAULT_DISK": ("disk_limit", _bytes),
        "FILE_MAX_SIZE_MB": ("session_file_max_bytes", lambda text: int(text) * 1024**2),
        "IDLE_THRESHOLD_MINUTES": ("session_idle_s", _scaled(60)),
        "MAX_LIFETIME_HOURS": ("session_lifetime_s", _scaled(3600)),
        "ALLOWED_HOSTS": ("allowed_hosts", _list),
        "CORS_ORIGINS": ("cors_origins", _list),
    }
)
IGNORED = (
    "APP_NAME",
    "APP_VERSION",
    "ENVIRONMENT",
    "WORKERS",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
    "KUBERNETES_NAMESPACE",
    "RUNTIME_TYPE",
    "DISABLE_BWRAP",
    "CONTROL_PLANE_URL",
    "RETRY_BACKOFF_FACTOR",
    "HEALTH_CHECK_INTERVAL_SECONDS",
    "METRICS_ENABLED",
    "METRICS_PORT",
    "SECRET_KEY",
)


def read_aliases(environ: Mapping[str, str], folder: Path | None = None) -> list[tuple[tuple[str, object], str]]:
    """Return ((setting, value), source) pairs; later ones take precedence. The environment overrides the .env file."""
    given = {
        **_read_env_file(folder or Path()),
        **{name.upper(): (value, f"environment {name}") for name, value in environ.items()},
    }
    found = {name: entry for name, entry in given.items() if entry[0]}
    # First, so that more specific names override it.
    debug = [(("log_level", "debug"), source) for value, source in _present(found, "DEBUG") if value.lower() in _TRUE]
    plain = [((DIRECT[name], value), source) for name, (value, source) in found.items() if name in DIRECT]
    changed = [
        ((CONVERTED[name][0], _convert(name, value)), source) for name, (value, source) in found.items() if name in CONVERTED
    ]
    return [*debug, *plain, *changed, *_pool_sizes(found), *_rate_limit(found), *_database_url(found)]


_Variables = Mapping[str, tuple[str, str]]
_Values = list[tuple[tuple[str, object], str]]


def _convert(name: str, value: str) -> object:
    try:
        return CONVERTED[name][1](value)
    except (ValueError, TypeError) as error:
        raise InvalidRequest(f"{name}: {value[:60]!r} is not valid") from error


def _present(found: _Variables, *names: str) -> list[tuple[str, str]]:
    return [found[name] for name in names if name in found]


def _pool_sizes(found: _Variables) -> _Values:
    """WARM_POOL_PYTHON_BASIC_SIZE sets the size for the template python-basic."""
    sizes, sources = [], []
    for name, (value, source) in sorted(found.items()):
        match = _TEMPLATE_POOL.fullmatch(name)
        if match and name not in _DEFAULT_POOL_NAMES:
            sizes.append(f"{match[1].lower().replace('_', '-')}={value}")
            sources.append(source)
    return [(("warm_pool_sizes", sizes), ", ".join(sources))] if sizes else []


def _rate_limit(found: _Variables) -> _Values:
    """RATE_LIMIT_ENABLED alone selects the default rate of the control plane."""
    on, rate = found.get("RATE_LIMIT_ENABLED"), found.get("RATE_LIMIT_PER_MINUTE")
    if on is not None and on[0].lower() not in _TRUE:
        return [(("rate_limit_per_minute", 0), on[1])]
    chosen = rate or (None if on is None else (_DEFAULT_RATE, on[1]))
    return [] if chosen is None else [(("rate_limit_per_minute", chosen[0]), chosen[1])]


def _database_url(found: _Variables) -> _Values:
    """A complete set of DB_ variables overrides DATABASE_URL. DB_PORT and DB_TYPE are optional."""
    parts = {name: found[name][0] for name in _DATABASE_PARTS if name in found}
    if any(name not in parts for name in _DATABASE_PARTS if name not in ("DB_PORT", "DB_TYPE")):
        return []
    kind = _DATABASE_KINDS.get(parts.get("DB_TYPE", "mysql").lower())
    if kind is None:
        raise InvalidRequest(f"DB_TYPE: {parts['DB_TYPE'][:40]!r} is not one of {', '.join(_DATABASE_KINDS)}")
    port = f":{parts['DB_PORT']}" if "DB_PORT" in parts else ""
    who = f"{quote(parts['DB_USER'], safe='')}:{quote(parts['DB_PASSWORD'], safe='')}"
    charset = f"?charset={quote(found['DB_CHARSET'][0], safe='')}" if "DB_CHARSET" in found and kind == "mysql" else ""
    url = f"{kind}://{who}@{parts['DB_HOST']}{port}/{quote(parts['DB_DATABASE'], safe='')}{charset}"
    return [(("database_url", url), found["DB_HOST"][1])]


def _read_env_file(folder: Path) -> dict[str, tuple[str, str]]:
    """Read NAME=value lines of the .env file; ignore other lines."""
    path = folder / ENV_FILE
    try:
        if not path.is_file() or path.stat().st_size > _MAX_ENV_FILE_BYTES:
            return {}
        lines = path.read_text().splitlines()
    except (OSError, ValueError):
        return {}
    pairs = (line.strip().removeprefix("export ").partition("=") for line in lines if not line.lstrip().startswith("#"))
    return {name.strip().upper(): (_unquoted(value), f"file {path}") for name, equals, value in pairs if equals and name.strip()}


def _unquoted(value: str) -> str:
    text = value.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
