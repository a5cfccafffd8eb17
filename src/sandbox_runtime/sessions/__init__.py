"""Sessions: files and interpreters that live longer than one execution.

    async with open_sessions(platform, store, storage, options, bounds) as sessions:
        session = await sessions.create(SessionSpec(), owner)
        execution = await sessions.executions.run(session.id, ExecutionSpec(code="print(1)"), owner=owner)

`Sessions` is the API for the HTTP and MCP servers. Every method takes `owner`, the owner of the key that was used ("" sees
everything), and returns objects of the model as they are stored. An acknowledged execution has a row; an ended one has its result
in the store before anybody is notified. Every wait is bounded.

    sessions             create · get · list · change · terminate · delete · is_busy · pause · resume · fork · install · sweep
    sessions.executions  submit · run · wait · get · list · latest · artifacts · cancel · output · follow
    sessions.terminals   send_keys · resize
    sessions.contexts    open · list · interrupt · restart · close (code runs with ExecutionSpec(kind=cell))
    sessions.files       open · digest · save · versions · uploads
    sessions.monitor     health · events · usage · samples · boxes · check_storage
    sessions.templates   add · get · get_active · list · change · delete
    sessions.nodes       list · get (sessions.node_reports: what other nodes report)

Packages of this room:

    api          the objects above
    executions   accept, queue, run and store executions
    lifecycle    create, open, pause, fork, save, recover and end sessions
    maintenance  expiry, supervision, health and storage use in the background
    nodes        where sessions run; other kinds of nodes implement nodes.node.NodeHost
    packages     install packages into a session

An execution of code, a handler or a command gets a new box on the session's files, with its own limits and accounting. A context
is a live interpreter that keeps its state between executions.
"""

from sandbox_runtime.sessions.api.context_api import ContextView
from sandbox_runtime.sessions.api.sessions import Sessions
from sandbox_runtime.sessions.executions.output import OutputPiece
from sandbox_runtime.sessions.options import SessionOptions
from sandbox_runtime.sessions.specs import ExecutionSpec, SessionSpec
from sandbox_runtime.sessions.startup import PlatformParts, lock_node, open_sessions

__all__ = [
    "ContextView",
    "ExecutionSpec",
    "OutputPiece",
    "PlatformParts",
    "SessionOptions",
    "SessionSpec",
    "Sessions",
    "lock_node",
    "open_sessions",
]
