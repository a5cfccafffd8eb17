"""Environments: files that outlive the boxes that use them, and everything that can run on them.

Contract: an Environment owns its files, a standby box for the next command, and live contexts; its opener must close() it.
run() takes a checked RunRequest of any kind (a program, a handler, a shell command), runs it in a fresh box on these
files and returns a RunResult. Limits and accounting are those of one command. It raises only if the request is invalid or the
platform fails. This package knows nothing about sessions, owners or the store.
"""

from sandbox_runtime.engine.environments.environment import Environment, EnvironmentParts
from sandbox_runtime.engine.run.planner import PlannedRun, RunPlanner
from sandbox_runtime.engine.run.request import RunRequest, RunResult

__all__ = ["Environment", "EnvironmentParts", "PlannedRun", "RunPlanner", "RunRequest", "RunResult"]
