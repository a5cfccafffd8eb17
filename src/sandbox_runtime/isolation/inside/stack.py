"""Hiding the frames below a program, so that its outermost frame has no caller, as in an interpreter that was started for it.

CPython links each frame to the one that was current when it began. Where the thread state keeps the current frame differs between
versions (in the thread state itself from 3.13 on, behind a pointer before), so the place is looked for once, by value, through /proc/self/mem,
which answers a wrong address with an error instead of a crash. Where it is not found nothing is hidden and
only programs that walk the whole stack see two frames more.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_WORDS = 40
_FRAME_FIELD = 24


class FrameStack:
    """Where this interpreter keeps its current frame."""

    def __init__(self, place: int | None, behind_pointer: bool) -> None:
        self._place = place
        self._behind_pointer = behind_pointer

    @classmethod
    def find(cls) -> FrameStack:
        frame = sys._getframe()
        try:
            memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return cls(None, False)
        try:
            return cls(*_find_place(memory, _word(memory, id(frame) + _FRAME_FIELD)))
        finally:
            os.close(memory)

    def slot(self) -> ctypes.c_void_p:
        """The word that holds the current frame, in effect until the next call of anything written in Python.

        Setting its value to None cuts the stack there. Where the place is unknown, a word that nobody reads.
        """
        if self._place is None:
            return ctypes.c_void_p()
        if not self._behind_pointer:
            return ctypes.c_void_p.from_address(self._place)
        pointer = ctypes.c_void_p.from_address(self._place).value
        return ctypes.c_void_p.from_address(pointer) if pointer else ctypes.c_void_p()


def _find_place(memory: int, frame: int | None) -> tuple[int | None, bool]:
    """The word of the thread state that holds `frame`, or that points to the word which does."""
    get = ctypes.pythonapi.PyThreadState_Get
    get.restype = ctypes.c_void_p
    state: int = get()
    places = range(state, state + 8 * _WORDS, 8)
    if frame:
        for place in places:
            if _word(memory, place) == frame:
                return place, False
        for place in places:
            word = _word(memory, place)
            if word and _word(memory, word) == frame:
                return place, True
    return None, False


def _word(memory: int, address: int) -> int | None:
    try:
        data = os.pread(memory, 8, address)
    except (OSError, OverflowError):
        return None
    return int(struct.unpack("Q", data)[0]) if len(data) == 8 else None
