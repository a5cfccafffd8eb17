"""ResultStore of commands that are told again instead of running the command once more.

Contract: nothing is told again unless somebody said that it may be (a caller, for one call; the operator, for the commands of
warm_commands), unless it went well, had no network, and left every file as it was, and unless every file that programs of the
sandbox can write holds the same bytes now as it did then. What an answer can have depended on is its key: the command or the
program, its input, its variables and those of its sandbox, limits, packages, and the digest of all files. Time and chance are
what the word of the caller stands for. ResultStore of one owner are not told to another, those of warm commands to everybody.
"""

from sandbox_runtime.mcp.cache.results import ResultStore
from sandbox_runtime.mcp.cache.runs import CachedRuns

__all__ = ["CachedRuns", "ResultStore"]
