"""What the configuration makes of a place: the same verbs, with its wishes about resources, variables and kept results.

Contract: configured(place, config, …) is a Place. Tools know nothing of it; values of sensitive variables do not come out of it.
"""

from sandbox_runtime.mcp.hosts.configured import configured

__all__ = ["configured"]
