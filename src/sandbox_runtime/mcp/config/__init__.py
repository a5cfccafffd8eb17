"""The configuration of mcp-sandboxd: sections, keys, defaults, allowed values.

load_config() reads the first mcp-sandboxd.yaml of the search path, or the given file. SANDBOXRUNNER_ variables (dots become
underscores) override the file, flags override both, and the result is validated as a whole. default_yaml() returns a file with
every key at its default. mcp.startup translates the configuration into platform settings.
"""

from sandbox_runtime.mcp.config.loader import default_yaml, keys, load_config, validate
from sandbox_runtime.mcp.config.model import ALL_TOOLS, DEFAULT_TOOLS, McpConfig

__all__ = ["ALL_TOOLS", "DEFAULT_TOOLS", "McpConfig", "default_yaml", "keys", "load_config", "validate"]
