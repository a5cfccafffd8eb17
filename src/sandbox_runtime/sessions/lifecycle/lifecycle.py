"""The parts that create, open, change and end sessions, built once for a server."""

from __future__ import annotations

from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions.executor import Executor
from sandbox_runtime.sessions.lifecycle.creator import SessionCreator
from sandbox_runtime.sessions.lifecycle.environment_opener import EnvironmentOpener
from sandbox_runtime.sessions.lifecycle.fork import Forker
from sandbox_runtime.sessions.lifecycle.live_sessions import LiveSessions
from sandbox_runtime.sessions.lifecycle.pool import EnvironmentPool
from sandbox_runtime.sessions.lifecycle.template_cache import TemplateCache
from sandbox_runtime.sessions.lifecycle.transitions import Transitions
from sandbox_runtime.sessions.nodes.local_nodes import LocalNodes


class Lifecycle:
    def __init__(self, deps: SessionDeps, pool: EnvironmentPool, executor: Executor) -> None:
        self.nodes = LocalNodes(deps)
        self.templates = TemplateCache(deps)
        self.environments = EnvironmentOpener(deps, pool, self.templates)
        self.transitions = Transitions(deps, executor)
        self.live_sessions = LiveSessions(deps, self.transitions, self.environments)
        self.creator = SessionCreator(deps, self.templates, self.nodes, self.environments, self.transitions, self.live_sessions)
        self.forker = Forker(deps, self.creator, self.environments, self.transitions)
