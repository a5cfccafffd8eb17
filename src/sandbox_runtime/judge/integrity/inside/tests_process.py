"""The process of the tests: forks the one of the solution, then reads the order, runs the tests and tells the verdict.

Theory of operation. Two processes of one user, and the kernel keeps them apart:

    tests (first process of the program) ──fork──▶ solution
            └───────────── socket pair ──────────────┘

- The fork comes first. What makes a verdict (tests, tokens, standard input with the order) enters this process afterwards, so
  that no copy of it is over there.
- Then this process becomes one that cannot be dumped: the kernel refuses its memory, its descriptors and its environment to
  every process without capabilities (ptrace, process_vm_readv, pidfd_getfd, /proc/PID). A signal can only end it.
- Modules are loaded from the interpreter's own folders alone, and no file of the box is read.
- What comes from the other process is data of a closed set of types (codec.py), or a proxy (proxies.py).
- The word "passed" goes with a token that nobody sees before; it is told after the solution was killed.
"""

from __future__ import annotations

import builtins
import ctypes
import importlib
import json
import linecache
import os
import re
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from types import CodeType
from typing import Any

from .failures import FRAMES, frames  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us
from .proxies import Remote, is_remote  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .solution_process import serve  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .test_collector import AssertionsFailed, collect_and_run  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .test_text import class_sources, with_real_builtins, without_shadows  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us
from .wire import Wire  # type: ignore[import-not-found, import-untyped, unused-ignore]

TESTS, PREAMBLE = "<tests>", "<preamble>"
_DELIMITER = b"\x1e"
_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4
_READ_BYTES = 1 << 20
_MESSAGE_CHARACTERS = 300
_WORD = re.compile(r"[A-Za-z_]\w*")
_FUTURE = "from __future__ import annotations"
_FUTURE_FLAG = 0x1000000
_ROOTS = tuple(f"{os.path.realpath(root)}/" for root in {sys.prefix, sys.base_prefix, sys.exec_prefix})
_LIBRARIES = [entry for entry in sys.path if entry and f"{os.path.realpath(entry)}/".startswith(_ROOTS)]
"""Where modules of the tests come from: never from a folder that the solution can write to."""
_prctl = ctypes.CDLL(None, use_errno=True).prctl


def run() -> None:
    """Never returns."""
    names = sys.modules["__main__"].__dict__
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _run_solution(ours, theirs.detach(), names)
    theirs.close()
    _protect()
    order = json.loads(_read_all(0))
    _Trial(order, Wire(ours.detach()), pid, names).run()


def _run_solution(ours: socket.socket, fd: int, names: dict[str, Any]) -> None:
    ours.close()
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    status = 1
    try:
        serve(fd, names)
        status = 0
    finally:
        os._exit(status)


def _protect() -> None:
    """Leave this process to nobody else, or end it."""
    _prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if _prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise RuntimeError("this kernel does not keep processes of one user apart: the tests cannot run beside the solution")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    sys.path[:] = _LIBRARIES
    os.chdir("/")


class _Trial:
    def __init__(self, order: dict[str, Any], wire: Wire, pid: int, names: dict[str, Any]) -> None:
        self._order = order
        self._wire = wire
        self._pid = pid
        self._names = names
        self._remote: Remote | None = None

    def run(self) -> None:
        try:
            self._test()
        except SystemExit as leaving:
            self._check_solution()
            self._on_exit(leaving)
        except BaseException as error:
            self._check_solution()
            self._on_failure(error)
        self._check_solution()
        self._on_passed()

    def report(self, word: str) -> None:
        """Report something that speaks against the solution."""
        self._write_message(self._order["report"], word)

    def _check_solution(self) -> None:
        """Whatever the tests made of it, a solution that is gone has not passed."""
        if self._remote is not None and self._remote.lost is not None:
            self._solution_ended()

    def _test(self) -> None:
        solution, tests, preamble = self._order["solution"], self._order["tests"], self._order["preamble"]
        linecache.cache[TESTS] = (len(tests), None, tests.splitlines(True), TESTS)
        flags = _FUTURE_FLAG if _FUTURE in solution else 0
        code = compile(tests, TESTS, "exec", flags=flags, dont_inherit=True)
        before = compile(preamble, PREAMBLE, "exec", flags=flags, dont_inherit=True)
        self._remote = Remote(self._wire, names_used(code, tests), self._names)
        classes = class_sources(tests) if "class " in tests else {}
        found = self._remote.load(solution, self._order["stdin"], _defined_names(code) | _defined_names(before), classes)
        found = without_shadows(found, self._order["entry"])
        self._names.update(found)
        self._remote.data = found
        self._names.update(_preamble_names(before, self._order["entry"]))
        if shadowed := found.keys() & vars(builtins).keys():
            code = with_real_builtins(tests, TESTS, flags, shadowed, self._names)
        if self._order["kind"] == "pytest":
            self._names.setdefault("pytest", importlib.import_module("pytest"))
            collect_and_run(code, self._names, _call, self, may_skip="skip" in tests.lower())
        else:
            exec(code, self._names)

    def _on_passed(self) -> None:
        sys.stdout.flush()
        os.kill(self._pid, signal.SIGKILL)
        self._write_message(self._order["end"], "passed")
        _exit_process(0)

    def _on_failure(self, error: BaseException) -> None:
        is_assertion = isinstance(error, AssertionError) and not is_remote(error)
        shown = [*frames(error.__traceback__), *getattr(error, FRAMES, [])]
        told = traceback.format_exception_only(type(error), error)
        sys.stderr.write("".join(["Traceback (most recent call last):\n", *shown, *told]))
        self._write_message(
            self._order["report"], f"ended {'wrong_answer' if is_assertion else 'failed'} {_short_message(shown, told)}"
        )
        _exit_process(1)

    def _on_exit(self, leaving: SystemExit) -> None:
        """The tests may end by sys.exit(); the solution that does so has left early."""
        succeeded = leaving.code in (None, 0, False)
        if is_remote(leaving):
            if succeeded:
                self.report("early_exit")
            self._write_message(self._order["report"], "ended failed the solution left by sys.exit() before its tests had ended")
            _exit_process(leaving.code if isinstance(leaving.code, int) and leaving.code else 1)
        if succeeded:
            self._on_passed()
        if isinstance(leaving, AssertionsFailed):
            self._write_message(self._order["report"], f"ended wrong_answer {leaving.message}")
        else:
            self._write_message(self._order["report"], "ended failed the tests ended with an exit code that is not 0")
        _exit_process(1)

    def _solution_ended(self) -> None:
        """End as it did."""
        _, status = os.waitpid(self._pid, 0)
        if os.WIFSIGNALED(status):
            self._write_message(self._order["report"], f"ended failed the solution was ended by signal {os.WTERMSIG(status)}")
            sys.stderr.flush()
            _die_by_signal(os.WTERMSIG(status))
        if os.WEXITSTATUS(status) == 0:
            self.report("early_exit")
        self._write_message(self._order["report"], "ended failed the solution left before its tests had ended")
        _exit_process(os.WEXITSTATUS(status) or 1)

    def _write_message(self, token: str, text: str) -> None:
        os.write(1, _DELIMITER + token.encode() + b" " + text.encode("utf-8", "replace").replace(_DELIMITER, b"?") + _DELIMITER)


def _preamble_names(preamble: CodeType, entry: str) -> dict[str, Any]:
    """What the text before the solution defines: the tests use these, not what the solution makes of them."""
    own: dict[str, Any] = {"__name__": "__main__"}
    exec(preamble, own)
    return {name: value for name, value in own.items() if name != entry and not name.startswith("__")}


def names_used(code: CodeType, text: str) -> frozenset[str]:
    """Every name that the tests may ask the solution for; all words of a text that evaluates texts."""
    found = _code_names(code)
    if found & {"eval", "exec"}:
        found |= set(_WORD.findall(text))
    return frozenset(name for name in found if not name.startswith("__"))


def _code_names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _code_names(constant)
    return found


def _defined_names(code: CodeType) -> frozenset[str]:
    return frozenset(constant.co_name for constant in code.co_consts if isinstance(constant, CodeType))


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _short_message(shown: list[str], told: list[str]) -> str:
    """The line that failed and what was said."""
    line = shown[-1].strip().splitlines()[-1].strip() if shown else ""
    return f"{line}: {''.join(told).strip()}"[:_MESSAGE_CHARACTERS]


def _read_all(fd: int) -> bytes:
    parts = []
    while part := os.read(fd, _READ_BYTES):
        parts.append(part)
    return b"".join(parts)


def _die_by_signal(number: int) -> None:
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _exit_process(status: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)
