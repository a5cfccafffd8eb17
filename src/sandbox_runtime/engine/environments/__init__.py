"""Environments: files that outlive the boxes that use them, and everything that can run on them.

Contract: an Environment owns its files, a standby box for the next command, and live contexts; its opener must close() it.
run() takes a RunRequest of any kind (a program of any language, a handler, a shell command), runs it in a fresh box on these
files and returns a RunResult. Limits and accounting are those of one command. It raises only if the request is invalid or the
platform fails. This package knows nothing about sessions, owners or the store.
"""

from sandbox_runtime.engine.environments.environment import Environment
from sandbox_runtime.engine.environments.planner import RunPlanner
from sandbox_runtime.engine.environments.request import RunRequest, RunResult

__all__ = ["Environment", "RunPlanner", "RunRequest", "RunResult"]
