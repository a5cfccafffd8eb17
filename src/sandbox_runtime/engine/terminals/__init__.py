"""Terminals: run a command in a box on a terminal, so that shells, editors and pagers work.

Contract: a Terminal has a size, runs one command in the caller's box, and accepts keys and new sizes while it runs; what
appears on it is the command's standard output. The terminal belongs to the box: a small program there (inside/) holds its other
end and talks to the server over the command's control socket. The host's terminals are never reachable. Keys are accepted only
as fast as the command reads them.
"""

from sandbox_runtime.engine.terminals.terminal import Size, Terminal

__all__ = ["Size", "Terminal"]
