"""The configuration of mcp-sandboxd: sections, keys, defaults and what may stand in them.

Contract: load_config() reads the first mcp-sandboxd.yaml of the search path (or the file that is named), above it SANDBOXRUNNER_
variables (dots become underscores), above these the flags, and gives a McpConfig that was checked as a whole. generated() is a
file with every key at its default, which loads to the same. Knows nothing of the platform: see mcp.opening for the translation.
"""

from sandbox_runtime.mcp.config.loader import default_yaml, keys, load_config, validate
from sandbox_runtime.mcp.config.model import ALL_TOOLS, DEFAULT_TOOLS, McpConfig

__all__ = ["ALL_TOOLS", "DEFAULT_TOOLS", "McpConfig", "default_yaml", "keys", "load_config", "validate"]
