"""Folders of a box as one archive, and archives unpacked into a folder.

Contract: packing streams, whatever the size. What is unpacked was made by anyone: the whole archive is looked at before
anything is written, and one member that is not fit (a name that leads out, a link that leads out, a device, more than the
bounds) refuses all of it. Nothing is ever written through a link.
"""

from sandbox_runtime.workspace.archives.members import ArchiveBounds
from sandbox_runtime.workspace.archives.pack import Format, pack
from sandbox_runtime.workspace.archives.unpack import UnpackResult, unpack

__all__ = ["ArchiveBounds", "Format", "UnpackResult", "pack", "unpack"]
