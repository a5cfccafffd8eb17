"""The files of an area kept in a storage, and brought back into an empty one.

Contract: a snapshot is a manifest and the objects it names. A save stores what has changed since the last one, then the
manifest in one piece, then drops what nothing names any more; so whenever the server dies, the storage holds the last whole save,
or the one before. A restore checks every byte against the manifest, and gives all of it or raises.
"""

from sandbox_runtime.workspace.snapshots.snapshots import RestoreResult, SaveResult, Snapshots

__all__ = ["RestoreResult", "SaveResult", "Snapshots"]
