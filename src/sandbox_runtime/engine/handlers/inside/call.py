"""Run code, call its handler, send the result.

The order arrives over descriptor 3:

- code, name (of its file), args, path (further folders of modules)
- script: true if the code is the program itself, false if it only defines the handler
- call: "no", "found" (call the handler if there is one) or "must"
- event, context: the arguments of the handler
- wanted: names of variables to return instead of a value

The answer goes back over it: how it ended, and the value as JSON.
"""

from __future__ import annotations

import inspect
import json
import linecache
import math
import os
import socket
import sys
import time
import traceback
from types import ModuleType
from typing import Any

from .connection import Connection, Message  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

_CONTROL_FD = 3
_MAX_BYTES = 1024**2
_WARMUP_ORDER: Message = {
    "code": "def handler(event, context):\n    return {'n': event['n'] * 2}",
    "name": "practice.py",
    "script": True,
    "call": "found",
    "event": {"n": 1},
    "context": {"request_id": "", "remaining_time_in_millis": 0},
    "wanted": [],
    "args": [],
    "path": [],
}
_EXITS = {"ok": 0, "not_loaded": 1, "raised": 2, "not_serializable": 3}


class Context:
    """The handler's context: attributes, and a mapping by get() and []."""

    def __init__(self, fields: Message) -> None:
        self.__dict__.update(fields)
        self._ends = time.monotonic() + fields.get("remaining_time_in_millis", 0) / 1000

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends - time.monotonic()) * 1000))

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.__dict__.get(name, default)


class _Ended(Exception):
    """The program ended early."""

    def __init__(self, how: str, error: BaseException | str, status: int | None = None) -> None:
        super().__init__(how)
        self.how = how
        self.error = error
        self.status = status


def run() -> None:
    connection = Connection(_CONTROL_FD)
    order, _ = connection.receive()
    status = 0
    try:
        answer = _perform(order)
    except _Ended as ended:
        answer, status = {"how": ended.how, "error": _error_text(ended.error)}, _EXITS[ended.how]
        status = status if ended.status is None else ended.status
    _flush()
    connection.send(answer)
    sys.exit(status)


def warm_up() -> None:
    """Run a harmless order in a waiting box: the memory pages that this touches are copied before a caller waits."""
    kept = sys.path[:], sys.argv[:], sys.modules["__main__"]
    here, there = socket.socketpair()
    ours, theirs = Connection(here.detach()), Connection(there.detach())
    try:
        theirs.send(_WARMUP_ORDER)
        ours.send(_perform(ours.receive()[0]))
        theirs.receive()
    finally:
        sys.path[:], sys.argv[:], sys.modules["__main__"] = kept
        linecache.cache.pop(f"{os.getcwd()}/{_WARMUP_ORDER['name']}", None)


def _perform(order: Message) -> Message:
    sys.path[0:1] = [os.getcwd(), *order["path"]]
    names = _module(order)
    _load(order, names)
    if order["wanted"]:
        return {"how": "ok", "value": _text({name: names[name] for name in order["wanted"] if name in names}, default=str)}
    handler = names.get("handler")
    if order["call"] == "no" or (order["call"] == "found" and not callable(handler)):
        return {"how": "ok"}
    if not callable(handler):
        message = "the code has no function `handler`; define handler(event) or handler(event, context)"
        sys.stderr.write(f"ValueError: {message}\n")
        raise _Ended("not_loaded", message)
    return {"how": "ok", "value": _text(_call(handler, order))}


def _module(order: Message) -> dict[str, Any]:
    """Create a module that pickle, dataclasses and tracebacks find."""
    name = "__main__" if order["script"] else "handler"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = f"{os.getcwd()}/{order['name']}"
    code = order["code"]
    linecache.cache[module.__file__] = (len(code), None, code.splitlines(True), module.__file__)
    sys.argv[:] = [module.__file__, *order["args"]]
    return module.__dict__


def _load(order: Message, names: dict[str, Any]) -> None:
    raised = "raised" if order["script"] else "not_loaded"
    try:
        exec(compile(order["code"], names["__file__"], "exec", dont_inherit=True), names)
    except SystemExit as system_exit:
        raise _exit(system_exit, raised) from None
    except BaseException as error:
        how = "not_loaded" if isinstance(error, SyntaxError) else raised
        raise _failure(how, error, status=1 if order["script"] else None) from None


def _call(handler: Any, order: Message) -> Any:
    try:
        value = handler(*_arguments(handler, order))
        if inspect.iscoroutine(value):
            import asyncio

            value = asyncio.run(value)
        return value
    except BaseException as error:
        raise _failure("raised", error) from None


def _arguments(handler: Any, order: Message) -> tuple[Any, ...]:
    """Pass the context if the second parameter is required or is named like one."""
    event, context = order["event"], Context(order["context"])
    try:
        parameters = list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError):
        return (event,)
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if len(positional) < 2:
        return (event, context) if variadic else (event,)
    second = positional[1]
    return (event, context) if second.default is second.empty or second.name in ("context", "ctx", "_context") else (event,)


def _text(value: Any, default: Any = None) -> str:
    try:
        try:
            text = json.dumps(value, allow_nan=False, default=default)
        except ValueError as error:
            if "ircular" in str(error):
                raise
            text = json.dumps(_finite(value), allow_nan=False, default=default)
    except BaseException as error:
        sys.stderr.write(f"the value cannot be serialized as JSON: {type(error).__name__}: {error}\n")
        raise _Ended("not_serializable", error) from None
    if len(text) > _MAX_BYTES:
        message = f"the value has {len(text)} bytes as JSON; at most {_MAX_BYTES} are allowed: write it to a file"
        sys.stderr.write(f"{message}\n")
        raise _Ended("not_serializable", message)
    return text


def _finite(value: Any) -> Any:
    """Replace infinities and NaN, which JSON lacks, by null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def _exit(system_exit: SystemExit, how: str) -> _Ended:
    """Treat the exit as an interpreter does."""
    code = system_exit.code
    if code is None or isinstance(code, int):
        return _Ended("ok" if not code else how, "", int(code or 0))
    sys.stderr.write(f"{code}\n")
    return _Ended(how, str(code), 1)


def _failure(how: str, error: BaseException, status: int | None = None) -> _Ended:
    """Print the traceback without our own frames."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(f"<{__package__}"):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)
    return _Ended(how, error, status)


def _error_text(error: BaseException | str) -> str:
    if isinstance(error, str):
        return error
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # a program may have closed or replaced it
            continue
