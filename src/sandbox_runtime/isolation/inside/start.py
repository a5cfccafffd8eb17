"""Entry of everything on the far side: `python start.py spawner|init FD…`, then padding for the process title.

Kept as small as it can be: its frame lies below every warm program, and its `__main__` becomes theirs.
"""

_pristine = dict(globals())


def _enter() -> object:
    import os
    import socket
    import sys

    code = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    sys.path[0] = code
    from sandbox_runtime.isolation.inside import init, spawner, warm

    channels = [socket.socket(fileno=int(number)) for number in sys.argv[2].split(",")]
    if sys.argv[1] == "init":
        return init.enter(*channels)
    del _pristine["__file__"]
    interpreter = warm.WarmInterpreter(_pristine)
    return interpreter, spawner.enter(channels[0], interpreter)


_warm, _order = _enter()  # type: ignore[misc]
_warm.run(_order)
