"""The harness's own voice: what it says leaves the process at once and cannot be taken back."""

from __future__ import annotations

import builtins
import os

BUILTINS = dict(vars(builtins))
"""Our own: by the time they are needed the program may have changed those that all share. Each of our modules takes them."""
globals()["__builtins__"] = BUILTINS

_write, _getpid, _exit = os.write, os.getpid, os._exit
_DELIMITER = b"\x1e"


class Reporter:
    """fd: ours alone. report, end: the tokens of its messages."""

    __slots__ = ("_end", "_fd", "_pid", "_report", "_reported")

    def __init__(self, fd: int, report: str, end: str) -> None:
        self._fd = fd
        self._report = report.encode()
        self._end = end.encode()
        self._pid = _getpid()
        self._reported: set[str] = set()

    def report(self, word: str) -> None:
        """Once for each word: a program that does it a million times is told of once."""
        if word not in self._reported:
            self._reported.add(word)
            self._write_message(self._report + b" " + word.encode())

    def report_end(self, how: str, message: str = "") -> None:
        """With all that was seen, once more: what was said earlier may have drowned in the program's own output. Not for a copy
        of the process: whoever runs the tests on in one uses it to look into the future."""
        if not self.is_first():
            self.report("fork")
            _exit(1)
        if how == "passed":
            self._write_message(self._end + b" passed " + ",".join(sorted(self._reported)).encode())
        else:
            self._write_message(
                self._report + f" ended {how} {message[:300]}".encode("utf-8", "replace").replace(_DELIMITER, b"?")
            )
        self._fd = -1  # what follows is the interpreter's own end, which takes ways that a solution may not

    def is_first(self) -> bool:
        return _getpid() == self._pid

    def _write_message(self, text: bytes) -> None:
        try:
            _write(self._fd, _DELIMITER + text + _DELIMITER)
        except OSError:  # the program closed it: then the end is not told, which is the program's loss
            return
