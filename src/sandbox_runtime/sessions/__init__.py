"""Sessions: boxes with a life.

    async with open_sessions(platform, store, storage, options, bounds) as sessions:
        session = await sessions.create(SessionSpec(), owner)
        execution = await sessions.executions.run(session.id, ExecutionSpec(code="print(1)"), owner=owner)

Contract: `Sessions` has every verb, and is all that a door needs; each takes `owner`, the one whose key asked ("" where keys are
off: sees everything). What a verb returns are nouns of the model, read from the store. An execution that was acknowledged has a
row; one that has ended has its result in the store before anybody is told. Every wait is bounded.

    sessions   create · get · list · change · at_work · terminate · delete · finish · pause · resume · fork · install
    executions submit · execute · wait · execution · executions · latest · artifacts · cancel · output · follow · type_in · resize
    contexts   open_context · contexts · interrupt · restart_context · close_context (run code with ExecutionSpec(kind=cell))
    files      files (a SessionFiles) · files_digest · saved
    health     health · events
    figures    usage · samples · file_versions · sent_files
    others     add_template · template · templates · change_template · delete_template · nodes · node · boxes · sweep

An execution of code, a handler or a command gets a fresh box on the session's files: limits, accounting and death are its own. A
context keeps a live interpreter. The room knows no HTTP; nodes of other kinds come in through node.Host.
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
