"""All settings: name, type, default, unit and description of each. The only package that reads the environment.

Contract: a setting is a field of Settings; its description, unit and bounds are the field's metadata. The value comes from the
first of these sources that sets it: flag, environment (SANDBOX_ names, then those of aliases.py), settings file (TOML),
configuration file (YAML, SANDBOX_CONFIG), default. Settings.origin records the source of each value. Nothing is read at import.
The only package that imports PyYAML.
"""

from sandbox_runtime.settings.config_file import CONFIG_VARIABLE
from sandbox_runtime.settings.dataset import DatasetConfig
from sandbox_runtime.settings.loader import DEFAULT_FILES, FILE_VARIABLE, load
from sandbox_runtime.settings.names import ENVIRONMENT_PREFIX, default_text, environment_name, format_value, type_name
from sandbox_runtime.settings.setting import Setting
from sandbox_runtime.settings.settings import Settings, all_settings

__all__ = [
    "CONFIG_VARIABLE",
    "DEFAULT_FILES",
    "ENVIRONMENT_PREFIX",
    "FILE_VARIABLE",
    "DatasetConfig",
    "Setting",
    "Settings",
    "all_settings",
    "default_text",
    "environment_name",
    "format_value",
    "load",
    "type_name",
]
