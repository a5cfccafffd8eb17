"""Every knob once: its name, type, default, unit and a sentence. The only reader of the environment.

Contract: a knob is a field of Settings; everything that is known about it lives in the field's metadata. A value comes from the
highest of these sources: flag > environment (SANDBOX_ names, then those of aliases.py) > settings file (TOML) > configuration
file (YAML, SANDBOX_CONFIG) > default.
Settings.origin keeps for each knob where its value came from. Nothing is read at import. The only room that imports PyYAML.
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
