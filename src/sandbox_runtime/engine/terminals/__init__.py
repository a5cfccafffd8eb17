"""Terminals: a command in a box that has one, so that shells, editors and pagers work as they do elsewhere.

Contract: a Terminal is made with its size, runs one command in a box that the caller gives it, and takes what is typed and other
sizes while that runs; what appears on it comes out as the command's standard output. The terminal itself is one of the box's own:
a small program in there (inside/) holds its other end and talks to us over the command's socket. Nothing of the host's terminals
is ever within reach. What is typed is taken only as fast as the command reads it.
"""

from sandbox_runtime.engine.terminals.terminal import Size, Terminal

__all__ = ["Size", "Terminal"]
