"""The files of a box, seen from outside.

Contract: a guest may change everything below the box's writable area at any moment, also while we look. So nothing here uses
a path twice, follows a link or leaves the area: every open goes through openat2 beneath the area's directory descriptor,
ownership is set by descriptor, and what is read is bounded while it is read. Knows nothing of how boxes are isolated.

Rooms within: archives (folders as tar.gz and zip, both ways), storage (bytes kept beyond a box's life: local folder or S3),
snapshots (areas kept in a storage). SessionFiles is all of it for one area, for an event loop.
"""

from sandbox_runtime.workspace.archives import ArchiveBounds, Format, UnpackResult
from sandbox_runtime.workspace.area import Area, Quotas, resolve
from sandbox_runtime.workspace.changed_files import ChangedFiles, collect_changes
from sandbox_runtime.workspace.copy import CopyResult, copy_area
from sandbox_runtime.workspace.fetch import FetchResult, fetch
from sandbox_runtime.workspace.file_reader import Slice, is_text
from sandbox_runtime.workspace.listing import Entry, EntryKind, Listing
from sandbox_runtime.workspace.presigned import PresignedFile, presign_file
from sandbox_runtime.workspace.session_files import Download, FileBounds, SessionFiles
from sandbox_runtime.workspace.snapshots import RestoreResult, SaveResult, Snapshots
from sandbox_runtime.workspace.staging import link, stage
from sandbox_runtime.workspace.storage import S3Options, Storage, StorageOptions, StoredObject, open_storage
from sandbox_runtime.workspace.watcher import Change, ChangeKind, Watch, WatchBounds

__all__ = [
    "ArchiveBounds",
    "Area",
    "Change",
    "ChangeKind",
    "ChangedFiles",
    "CopyResult",
    "Download",
    "Entry",
    "EntryKind",
    "FetchResult",
    "FileBounds",
    "Format",
    "Listing",
    "PresignedFile",
    "Quotas",
    "RestoreResult",
    "S3Options",
    "SaveResult",
    "SessionFiles",
    "Slice",
    "Snapshots",
    "Storage",
    "StorageOptions",
    "StoredObject",
    "UnpackResult",
    "Watch",
    "WatchBounds",
    "collect_changes",
    "copy_area",
    "fetch",
    "is_text",
    "link",
    "open_storage",
    "presign_file",
    "resolve",
    "stage",
]
