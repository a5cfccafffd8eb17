"""Calling with nothing below on the frame stack: a program's outermost frame has no caller, as in an interpreter of its own.

CPython links each frame to the one that was current when it began. Where the current one is kept differs between versions: in
the thread state itself (3.10, and again from 3.13 on), or in a structure that the thread state points to. So the place is looked
for once, by value, reading through /proc/self/mem, which answers a wrong address with an error instead of a crash. Two frames are
asked for, so that no word is taken for it that holds one of them by chance. Where the place is not found nothing is hidden:
programs that walk the whole stack then see a few frames more.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

_WORDS = 40
_FRAME_FIELD = 24
_FRAME_IS_OBJECT = sys.version_info < (3, 11)

FrameSlot = tuple[int, int]
"""Address of a word, and either -1 or, where the word is a pointer, the distance from where it points to the word in question."""

_call_object = ctypes.pythonapi.PyObject_CallObject
_call_object.restype = ctypes.py_object
_call_object.argtypes = (ctypes.py_object, ctypes.py_object)


class FrameStack:
    """The frame stack of the thread that looked for it."""

    def __init__(self, slot: FrameSlot | None) -> None:
        self._slot = slot

    @classmethod
    @functools.cache
    def find(cls) -> FrameStack:
        """Once: where boxes are made /proc is out of reach."""
        try:
            memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return cls(None)
        try:
            found = _candidate_slots(memory) & _candidate_slots_one_call_deeper(memory)
        finally:
            os.close(memory)
        return cls(found.pop() if len(found) == 1 else None)

    def call(self, function: Callable[..., object], *arguments: object) -> Any:
        """Between cutting the stack and mending it nothing written in Python may be called from here but the function itself.

        A trace or profile function left behind would see what follows, which is ours, so it is taken away. Asked for and taken
        through C, because a profile function sees even the calls of builtins.
        """
        if self._slot is None:
            return function(*arguments)
        address, distance = self._slot
        current, call = ctypes.c_void_p.from_address(address), _call_object
        if distance >= 0:
            current = ctypes.c_void_p.from_address((current.value or 0) + distance)
        kept = current.value
        try:
            current.value = None
            return call(function, arguments)
        finally:
            current.value = kept
            if call(sys.getprofile, ()) or call(sys.gettrace, ()):
                _set_profile(None, None)
                _set_trace(None, None)


def _candidate_slots(memory: int) -> set[FrameSlot]:
    """Words that hold the frame of this very call. They would hold another while a function was called, so none is."""
    frame = sys._getframe()
    wanted = id(frame)
    if not _FRAME_IS_OBJECT:
        (wanted,) = struct.unpack("Q", os.pread(memory, 8, wanted + _FRAME_FIELD))
    state = _thread_state()
    words = struct.unpack(f"{_WORDS}Q", os.pread(memory, 8 * _WORDS, state))
    found = set()
    for number, word in enumerate(words):
        if word == wanted:
            found.add((state + 8 * number, -1))
        try:
            behind = struct.unpack("QQ", os.pread(memory, 16, word))
        except (OSError, OverflowError, struct.error):
            continue
        if wanted in behind:
            found.add((state + 8 * number, 8 * behind.index(wanted)))
    return found


def _candidate_slots_one_call_deeper(memory: int) -> set[FrameSlot]:
    return _candidate_slots(memory)


_set_profile, _set_trace = ctypes.pythonapi.PyEval_SetProfile, ctypes.pythonapi.PyEval_SetTrace
_thread_state = ctypes.pythonapi.PyThreadState_Get
_thread_state.restype = ctypes.c_void_p
