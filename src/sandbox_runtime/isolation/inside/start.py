"""Entry point of every process outside the server: `python start.py spawner|init FD…`, followed by padding for the process
title.

Kept as small as possible: its frame is below every warm program, and its `__main__` becomes theirs.
"""

_pristine = {**globals(), "__doc__": None}


def _enter():  # type: ignore[no-untyped-def]
    import os
    import sys

    sys.path[0] = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    from sandbox_runtime.isolation.inside import init, spawner, warm_interpreter, wire

    channels = [wire.socket_from_fd(int(number)) for number in sys.argv[2].split(",")]
    if sys.argv[1] == "init":
        init.enter(*channels)
    del _pristine["__file__"]
    interpreter = warm_interpreter.WarmInterpreter(_pristine)
    return interpreter, spawner.enter(channels[0], interpreter)


_warm, _order = _enter()  # type: ignore[no-untyped-call]
_warm.run(_order)
