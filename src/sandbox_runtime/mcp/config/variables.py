"""Environment variables as configured in tools.environment: expansion, redaction, PATH."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config.model import EnvironmentSection

REDACTED = "***"
PATH = "PATH"
_REFERENCE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_OWN_PATH = re.compile(r"\$(?:PATH\b|\{PATH\})")
_MAX_CHARACTERS = 65_536


def has_references(env: Mapping[str, str]) -> bool:
    return any("$" in value for value in env.values())


def expand(env: Mapping[str, str], sandbox_env: Mapping[str, str]) -> dict[str, str]:
    """Expand references to variables of `env`, then of `sandbox_env`. Unknown references stay, and so does $PATH in PATH, whose
    value is known inside the box only."""
    expanded = {name: _value(name, value, {**sandbox_env, **env}) for name, value in env.items()}
    if sum(map(len, expanded.values())) > _MAX_CHARACTERS:
        raise InvalidRequest(f"the environment exceeds {_MAX_CHARACTERS} characters after expanding variables")
    return expanded


def _value(name: str, value: str, variables: Mapping[str, str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        if match[1]:
            return "$"
        reference = match[2] or match[3]
        return match[0] if reference == name or reference not in variables else variables[reference]

    return _REFERENCE.sub(replacement, value)


def redact(env: Mapping[str, str], section: EnvironmentSection) -> dict[str, str]:
    """Replace values of variables whose names match a sensitive pattern."""
    if not section.filter_sensitive:
        return dict(env)
    patterns = [pattern.upper() for pattern in section.sensitive_patterns if pattern]
    return {name: REDACTED if any(pattern in name.upper() for pattern in patterns) else value for name, value in env.items()}


def extends_path(env: Mapping[str, str]) -> bool:
    return _OWN_PATH.search(env.get(PATH, "")) is not None


def with_path(argv: tuple[str, ...], paths: tuple[str, ...], path: str) -> tuple[str, ...]:
    """Return the command wrapped in a shell that sets PATH and execs it. PATH is the configured folders, then `path`, in which
    $PATH stands for the box's own value."""
    middle = '"$PATH"'.join(shlex.quote(part) for part in _OWN_PATH.split(path)) if path else '"$PATH"'
    whole = ":".join([*(shlex.quote(path) for path in paths), middle])
    return ("/bin/sh", "-c", f'PATH={whole}; export PATH; exec "$@"', "sh", *argv)
