"""The files of a box, seen from outside.

Contract: a guest may change everything below the box's writable area at any moment, also while we look. So nothing here uses
a path twice, follows a link or leaves the area: every open goes through openat2 beneath the area's directory descriptor,
ownership is set by descriptor, and what is read is bounded while it is read. Knows nothing of how boxes are isolated.
"""

from sandbox_runtime.workspace.area import Area, Quotas, place
from sandbox_runtime.workspace.collecting import Collected, collect
from sandbox_runtime.workspace.fetching import Fetched, fetch
from sandbox_runtime.workspace.staging import link, stage

__all__ = ["Area", "Collected", "Fetched", "Quotas", "collect", "fetch", "link", "place", "stage"]
