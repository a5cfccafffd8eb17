"""One order from standard input: run the solution, run the tests, tell the end.

The order is JSON: solution, tests, kind ("python" or "pytest"), stdin (what the program itself finds there, as base64), report
and end (tokens). Nothing of it is ever on the box's disk, and before the tests begin they are no code yet.
"""

from __future__ import annotations

import builtins
import json
import linecache
import os
import sys
import traceback
from base64 import b64decode
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any

from .audit_hook import TESTS, AuditHook, trust  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .comparer import Comparer  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us
from .hardened_modules import harden  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .pristine import PristineState  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .reporter import BUILTINS, Reporter  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .rewriter import compile_tests  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .static_check import is_harmless  # type: ignore[import-not-found, import-untyped, unused-ignore]
from .test_collector import AssertionsFailed, collect_and_run, pytest_files, raised_by_tests  # type: ignore[import-not-found, import-untyped, unused-ignore]

globals()["__builtins__"] = BUILTINS

_PACKAGE = "_sandbox_harness"
_FUTURE_FLAGS = 0x1FF0000
"""The bits of a code's flags that say which `from __future__ import …` it has."""
_READ_BYTES = 1 << 20
_PRACTICE_SOLUTION = (
    "import math\nfrom typing import List\n\ndef same(items: List[int]) -> List[int]:\n    return sorted(items)\n"
)

_FRAME_STACK_FILE = "/isolation/inside/frame_stack.py"
"""The file of what calls the program with no frames below it."""
_prepared: list[Any] = []
"""In a spawner: what was found out before any box existed."""


def preload() -> None:
    _prepared[:] = [PristineState(), _find_frame_hiding_call()]


def _find_frame_hiding_call() -> Callable[..., Any] | None:
    """Only where we are loaded by a spawner; elsewhere frames can be seen, and looking at them is told of from the start."""
    try:
        from sandbox_runtime.isolation.inside.frame_stack import FrameStack
    except ImportError:
        return None
    call = FrameStack.find().call
    trust(call.__code__.co_filename)
    return None if call(_calling_frame) else call


def _calling_frame() -> FrameType | None:
    return sys._getframe().f_back


def run() -> None:
    order = json.loads(_read_all(0))
    pristine, hiding = _prepared or (PristineState(), None)
    _set_stdin(order["stdin"])
    reporter = Reporter(os.dup(1), order["report"], order["end"])
    trial = _Trial(order, reporter, pristine, hiding, sys.modules["__main__"].__dict__)
    del order
    _remove_modules()
    trial.run()


def warm_up() -> None:
    """All of it that leaves no trace, so that the interpreter knows the way: no hook, no shield, nobody to tell."""
    order = {"solution": _PRACTICE_SOLUTION, "tests": "assert same([1]) == [1]\n", "kind": "python"}
    order = json.loads(json.dumps(order))
    pristine, hiding = _prepared or (PristineState(), None)
    trial = _Trial(order, Reporter(-1, "", ""), pristine, hiding, {"__file__": "practice.py", "__name__": "__main__"})
    trial.rehearse()
    linecache.cache.pop("practice.py", None)


class _Trial:
    def __init__(
        self,
        order: dict[str, Any],
        reporter: Reporter,
        pristine: PristineState,
        hiding: Callable[..., Any] | None,
        names: dict[str, Any],
    ) -> None:
        self._solution, self._tests, self._kind = order["solution"], order["tests"], order["kind"]
        self._reporter = reporter
        self._pristine = pristine
        self._call = hiding or _call_directly
        self._audit_hook = AuditHook(reporter, hiding is not None)
        self._comparer = Comparer(reporter)
        self._names = names
        self._builtins = names.get("__builtins__")
        self._filename = names["__file__"]
        self._flags = 0
        self._is_plain = False
        self._beside = pytest_files() if self._kind == "pytest" else frozenset()

    def run(self) -> None:
        self._audit_hook.begin()
        try:
            self._load()
            self._audit_hook.begin_tests()
            self._test()
        except SystemExit as leaving:
            self._on_exit(leaving)
        except BaseException as error:
            self._on_failure(error)
        self._end("passed")

    def rehearse(self) -> None:
        self._load()
        self._test()
        self._is_plain = False
        self._test()
        self._end("passed")

    def _load(self) -> None:
        text, self._solution = self._solution, ""
        linecache.cache[self._filename] = (len(text), None, text.splitlines(True), self._filename)
        code = compile(text, self._filename, "exec", dont_inherit=True)
        self._flags = code.co_flags & _FUTURE_FLAGS
        self._is_plain = is_harmless(code)
        if not self._is_plain:
            harden(self._reporter)
        self._call(exec, code, self._names)

    def _test(self) -> None:
        if self._names.get("__builtins__") is not self._builtins is not None:
            self._reporter.report("builtins")
        if self._is_plain:
            code = compile(self._tests, TESTS, "exec", flags=self._flags, dont_inherit=True)
        else:
            shadowed = frozenset(self._names.keys() & vars(builtins).keys())
            code = compile_tests(self._tests, TESTS, self._comparer, self._flags, shadowed)
        if self._kind == "pytest":
            if pytest_files() != self._beside:
                self._reporter.report("pytest_files")
            collect_and_run(code, self._names, self._call, self._reporter, may_skip="skip" in self._tests.lower())
        else:
            self._call(exec, code, self._names)

    def _check_pristine(self) -> None:
        if self._is_plain:
            return
        if self._pristine.builtins_replaced():
            self._reporter.report("builtins")
        if self._pristine.modules_replaced():
            self._reporter.report("modules")
        if self._comparer.rebound(self._names):
            self._reporter.report("rebinding")

    def _on_exit(self, leaving: SystemExit) -> None:
        """Whoever asks to leave with success before the tests have ended asks for a mark it has not earned."""
        if isinstance(leaving, AssertionsFailed):
            self._end("wrong_answer", leaving.message)
            raise SystemExit(1)
        status = leaving.code
        if status is None or status == 0:
            self._reporter.report("early_exit")
        self._end("failed")
        raise SystemExit(1 if status is None or status == 0 else status)

    def _on_failure(self, error: BaseException) -> None:
        """The end is told before anything else: what prints the traceback is no longer ours alone."""
        is_assertion = isinstance(error, AssertionError) and raised_by_tests(error.__traceback__, self._filename)
        self._end("wrong_answer" if is_assertion else "failed", _short_message(error, self._tests) if is_assertion else "")
        lines = self._tests.splitlines(True)
        linecache.cache[TESTS] = (len(self._tests), None, lines, TESTS)
        traceback.print_exception(type(error), error, _strip_harness_frames(error.__traceback__))
        raise SystemExit(1)

    def _end(self, how: str, message: str = "") -> None:
        self._check_pristine()
        self._flush()
        self._reporter.report_end(how, message)

    def _flush(self) -> None:
        for name in ("stdout", "stderr"):
            try:
                self._call(getattr(sys, name).flush)
            except BaseException:  # a program may have closed or replaced it
                continue


def _short_message(error: BaseException, tests: str) -> str:
    """The line of the tests that failed, and what was said."""
    found = [frame.tb_lineno for frame in _iterate_frames(error.__traceback__) if frame.tb_frame.f_code.co_filename == TESTS]
    lines = tests.splitlines()
    line = lines[found[-1] - 1].strip() if found and found[-1] <= len(lines) else ""
    return f"{line}: {type(error).__name__}"


def _iterate_frames(start: TracebackType | None) -> Iterator[TracebackType]:
    while start is not None:
        yield start
        start = start.tb_next


def _call_directly(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _read_all(fd: int) -> bytes:
    parts = []
    while part := os.read(fd, _READ_BYTES):
        parts.append(part)
    return b"".join(parts)


def _set_stdin(text: str) -> None:
    """An empty one, or the program's own."""
    if text:
        given = os.memfd_create("stdin")
        os.write(given, b64decode(text))
        os.lseek(given, 0, os.SEEK_SET)
    else:
        given = os.open("/dev/null", os.O_RDONLY)
    os.dup2(given, 0)
    os.close(given)


def _remove_modules() -> None:
    """No name leads to us from here on; what runs keeps what it needs."""
    for name in [name for name in sys.modules if name.partition(".")[0] == _PACKAGE]:
        del sys.modules[name]


def _strip_harness_frames(frames: TracebackType | None) -> TracebackType | None:
    """From the program's outermost frame on."""
    while frames is not None and _is_harness_file(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return frames


def _is_harness_file(filename: str) -> bool:
    return filename.startswith(f"<{_PACKAGE}") or filename.endswith(_FRAME_STACK_FILE)
