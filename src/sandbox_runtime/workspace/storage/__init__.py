"""Bytes kept under a key, beyond the life of any box: in a local folder, or in a bucket that speaks S3.

Contract: what put() has answered is there, whole; what it has not answered is not there. Reading and writing stream. A key that
does not exist is NotFound; a storage that cannot be reached, or refuses us, is Unavailable.
"""

from sandbox_runtime.workspace.storage.factory import StorageOptions, open_storage
from sandbox_runtime.workspace.storage.port import S3Options, Storage, StoredObject, check_key, delete_below, read_all

__all__ = ["S3Options", "Storage", "StorageOptions", "StoredObject", "check_key", "delete_below", "open_storage", "read_all"]
