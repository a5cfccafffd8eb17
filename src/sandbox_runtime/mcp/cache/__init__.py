"""Cache of command results: a cached result is returned instead of running the command again.

A result is cached and reused only if all of these hold:

- caching is allowed: by the caller for one call, or by the operator for the commands of `warm_commands`;
- the command succeeded, had no network and changed no file;
- every file that programs of the sandbox can write has the same content as then.

The key covers everything else a result can depend on: command or program, stdin, variables of the call and of the sandbox,
limits, packages, and the digest of all files. Dependence on time or randomness is ruled out by the caller's word alone. Results
belong to one owner, except those of warm commands, which are shared.
"""

from sandbox_runtime.mcp.cache.results import ResultStore
from sandbox_runtime.mcp.cache.runs import CachedRuns

__all__ = ["CachedRuns", "ResultStore"]
