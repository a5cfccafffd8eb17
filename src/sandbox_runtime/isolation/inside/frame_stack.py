"""Call functions with an empty frame stack below, so that the outermost frame of a program has no caller, as in a fresh
interpreter.

CPython links each frame to the frame that was current when it began. Where the current frame is stored differs between
versions: in the thread state itself (3.10, and again from 3.13 on) or in a structure that the thread state points to. So the
slot is searched once, by value, through /proc/self/mem, which answers a wrong address with an error instead of a crash. Two
frames are searched, so that a word that holds one of them by chance is not mistaken for the slot. If the slot is not found,
nothing is hidden: programs that walk the whole stack then see a few more frames.
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
"""Address of a word and -1; or, if the word is a pointer to the slot's structure, the offset of the slot in that structure."""

_call_object = ctypes.pythonapi.PyObject_CallObject
_call_object.restype = ctypes.py_object
_call_object.argtypes = (ctypes.py_object, ctypes.py_object)


class FrameStack:
    """The frame stack of the thread that called find()."""

    def __init__(self, slot: FrameSlot | None) -> None:
        self._slot = slot

    @classmethod
    @functools.cache
    def find(cls) -> FrameStack:
        """Find the slot, once. /proc is not available where boxes are created."""
        try:
            memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return cls(None)
        try:
            slots = _candidate_slots(memory) & _candidate_slots_one_call_deeper(memory)
        finally:
            os.close(memory)
        return cls(slots.pop() if len(slots) == 1 else None)

    def call(self, function: Callable[..., object], *arguments: object) -> Any:
        """Call a function with an empty stack below it.

        Between clearing and restoring the slot, no other Python function may be called here. A trace or profile function that
        the program left behind would see our code, so it is removed; both calls go through C, because a profile function sees
        even calls of builtins.
        """
        if self._slot is None:
            return function(*arguments)
        address, distance = self._slot
        current, call = ctypes.c_void_p.from_address(address), _call_object
        if distance >= 0:
            current = ctypes.c_void_p.from_address((current.value or 0) + distance)
        saved = current.value
        try:
            current.value = None
            return call(function, arguments)
        finally:
            current.value = saved
            if call(sys.getprofile, ()) or call(sys.gettrace, ()):
                _set_profile(None, None)
                _set_trace(None, None)


def _candidate_slots(memory: int) -> set[FrameSlot]:
    """Return the words that hold the frame of this call. No function may be called in between: the words would hold its frame."""
    frame = sys._getframe()
    wanted = id(frame)
    if not _FRAME_IS_OBJECT:
        (wanted,) = struct.unpack("Q", os.pread(memory, 8, wanted + _FRAME_FIELD))
    state = _thread_state()
    words = struct.unpack(f"{_WORDS}Q", os.pread(memory, 8 * _WORDS, state))
    slots = set()
    for number, word in enumerate(words):
        if word == wanted:
            slots.add((state + 8 * number, -1))
        try:
            behind = struct.unpack("QQ", os.pread(memory, 16, word))
        except (OSError, OverflowError, struct.error):
            continue
        if wanted in behind:
            slots.add((state + 8 * number, 8 * behind.index(wanted)))
    return slots


def _candidate_slots_one_call_deeper(memory: int) -> set[FrameSlot]:
    return _candidate_slots(memory)


_set_profile, _set_trace = ctypes.pythonapi.PyEval_SetProfile, ctypes.pythonapi.PyEval_SetTrace
_thread_state = ctypes.pythonapi.PyThreadState_Get
_thread_state.restype = ctypes.c_void_p
