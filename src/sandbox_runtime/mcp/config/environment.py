"""Variables as the section tools.environment wants them. Pure."""

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
    """References to variables in values: to those of env as they were given, else to known ones. What refers to none stays as it
    is, and so does $PATH in PATH, which the box alone can tell."""
    pairs = {name: _value(name, value, {**sandbox_env, **env}) for name, value in env.items()}
    if sum(map(len, pairs.values())) > _MAX_CHARACTERS:
        raise InvalidRequest(f"the environment has more than {_MAX_CHARACTERS} characters once its variables are expanded")
    return pairs


def _value(name: str, value: str, sandbox_env: Mapping[str, str]) -> str:
    def told(match: re.Match[str]) -> str:
        path = match[2] or match[3]
        if match[1]:
            return "$"
        return match[0] if path == name or path not in sandbox_env else sandbox_env[path]

    return _REFERENCE.sub(told, value)


def redact(env: Mapping[str, str], section: EnvironmentSection) -> dict[str, str]:
    """Fit to be told: values of variables whose names say that they are secrets are not."""
    if not section.filter_sensitive:
        return dict(env)
    patterns = [pattern.upper() for pattern in section.sensitive_patterns if pattern]
    return {name: REDACTED if any(one in name.upper() for one in patterns) else value for name, value in env.items()}


def extends_path(env: Mapping[str, str]) -> bool:
    return _OWN_PATH.search(env.get(PATH, "")) is not None


def with_path(argv: tuple[str, ...], paths: tuple[str, ...], path: str) -> tuple[str, ...]:
    """A command that begins with its PATH set: folders of the configuration first, then what was wanted, in which $PATH is that
    of the box. A shell sets it and becomes the command."""
    middle = '"$PATH"'.join(shlex.quote(part) for part in _OWN_PATH.split(path)) if path else '"$PATH"'
    whole = ":".join([*(shlex.quote(path) for path in paths), middle])
    return ("/bin/sh", "-c", f'PATH={whole}; export PATH; exec "$@"', "sh", *argv)
