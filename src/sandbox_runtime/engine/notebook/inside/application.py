"""Become the kernel: an ipykernel in a fork of the driver."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import Any

import ipykernel_launcher  # type: ignore[import-not-found]
import zmq  # type: ignore[import-not-found]
from ipykernel.kernelapp import IPKernelApp  # type: ignore[import-not-found]
from traitlets.config import Config  # type: ignore[import-not-found]

_SET_DUMPABLE = 4
_OOM_SCORE = b"500"


def set_dumpable(value: bool) -> None:
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, int(value), 0, 0, 0)


class KernelApp(IPKernelApp):  # type: ignore[misc]
    """An ipykernel without command line, configuration files, heartbeat, debugger and history on disk. Its output blocks
    instead of being dropped when it comes too fast."""

    def parse_command_line(self, argv: object = None) -> None:
        self.extra_args: list[str] = []

    def load_config_file(self, *_words: object, **_more: object) -> None: ...

    def init_config_files(self) -> None: ...

    def init_heartbeat(self) -> None: ...

    def init_iopub(self, context: Any) -> None:
        context.setsockopt(zmq.XPUB_NODROP, 1)
        super().init_iopub(context)
        del context.sockopts[zmq.XPUB_NODROP]


def become(connection_file: str, ready: int) -> None:
    """Run the kernel. Returns when it has ended by itself."""
    os.setsid()
    set_dumpable(True)
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    os.dup2(devnull, 1)
    _raise_oom_score()
    _remove_driver_modules()
    sys.argv[:] = [ipykernel_launcher.__file__, "-f", connection_file]
    app = make_app(connection_file)
    _silence_original_streams(devnull)
    os.close(devnull)
    _show_figures_inline()
    # Files are staged while the kernel waits: drop the cached listing of the working folder.
    sys.path_importer_cache.pop(os.getcwd(), None)
    os.write(ready, b"1")
    os.close(ready)
    app.start()


def make_app(connection_file: str) -> Any:
    config = Config()
    config.HistoryManager.enabled = False
    config.IPKernelApp.parent_handle = 1  # it cannot outlive us, so it need not watch us
    config.IPKernelApp.connection_file = connection_file
    app = KernelApp.instance(config=config)
    app.initialize([])
    return app


def _remove_driver_modules() -> None:
    """Remove traces of the driver: cells may have files of the same names."""
    sys.path_importer_cache.pop(sys.path.pop(0), None)
    sys.dont_write_bytecode = False
    for name in [name for name in sys.modules if name.partition(".")[0] == __package__]:
        del sys.modules[name]


def _raise_oom_score() -> None:
    """Let the kernel and its children be killed first when memory runs out, so that the driver can report it."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb") as file:
        file.write(_OOM_SCORE)


def _silence_original_streams(devnull: int) -> None:
    """Stop ipykernel from repeating output of libraries and children on its original streams. Until here they show why it did
    not start."""
    for stream in (sys.stdout, sys.stderr):
        copy = getattr(stream, "_original_stdstream_copy", None)
        if copy is not None:
            os.dup2(devnull, copy)


def _show_figures_inline() -> None:
    """Set the inline backend on a matplotlib that was loaded before the kernel started."""
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None:
        matplotlib.rcParams["backend"] = os.environ["MPLBACKEND"]
