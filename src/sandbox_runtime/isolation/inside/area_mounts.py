"""Create a writable area that outlives the boxes that use it.

The area is its own file system, mounted in a copy of the spawner's mount namespace in which no process lives. A descriptor held
by the server keeps both alive. A box that uses the area starts from that namespace instead of the spawner's.
"""

from __future__ import annotations

import os
import socket
from typing import NoReturn

from sandbox_runtime.isolation.inside import layers, wire
from sandbox_runtime.isolation.inside.setup import Setup
from sandbox_runtime.isolation.kernel import descriptors, loop_device, mounts, namespaces


def make(reply: socket.SocketType, setup: Setup, mount: int | None = None) -> NoReturn:
    """In a fork of the spawner: create an area, send descriptors of its folder and namespace, and exit.

    mount: the file system to use; None for memory.
    """
    try:
        descriptors.close_except([reply.fileno(), *([] if mount is None else [mount])])
        namespaces.unshare(namespaces.NEW_MOUNT)
        uid = os.geteuid() if setup.uid is None else setup.uid
        if mount is None:
            mounts.mount_scratch(layers.SCRATCH, setup.disk_bytes, setup.disk_files)
        else:
            loop_device.attach(mount, layers.SCRATCH)
            os.rmdir(f"{layers.SCRATCH}/lost+found")
        mounts.make_folders(layers.SCRATCH, setup.writable, uid, uid, setup.home)
        folder = os.open(layers.SCRATCH, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        namespace = os.open(f"{layers.SPAWNER_PROC}/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        wire.send(reply, wire.encode_for_server({"made": True}), [folder, namespace])
    except Exception as error:
        wire.send(reply, wire.encode_for_server({"fault": f"{type(error).__name__}: {error}"}))
    os._exit(0)
