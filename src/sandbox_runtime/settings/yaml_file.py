"""A YAML file that another room has a meaning for: read here, so that one room knows the format's library."""

from __future__ import annotations

from pathlib import Path

import yaml

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings.config_file import MAX_FILE_CHARACTERS


def read_yaml(path: Path) -> dict[str, object]:
    """The table that the file holds; an empty file is an empty table."""
    try:
        if path.stat().st_size > MAX_FILE_CHARACTERS:
            raise InvalidRequest(f"the configuration file {path} has more than {MAX_FILE_CHARACTERS} bytes")
        whole = yaml.safe_load(path.read_text())
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise InvalidRequest(f"the configuration file {path} cannot be read: {str(error) or 'too deep'}") from error
    if whole is None:
        return {}
    if not isinstance(whole, dict) or not all(isinstance(key, str) for key in whole):
        raise InvalidRequest(f"the configuration file {path} must hold sections with keys and values")
    return whole
