"""Test functions and classes under pytest, from memory: the module that pytest collects is the program itself.

Nothing that lies beside it counts (conftest.py, pytest.ini, plugins that announce themselves), and what passed is counted by a
plugin of ours, from pytest's own reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol

from .reporter import BUILTINS  # type: ignore[import-not-found, import-untyped, unused-ignore]  # given beside us

globals()["__builtins__"] = BUILTINS

_PYTEST_FILES = ("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", "pytest.py", "unittest.py")
_OPTIONS = ("-p", "no:cacheprovider", "--noconftest", "--assert=plain", "-c", "/dev/null")
_TESTS = "<tests>"


class TamperReporter(Protocol):
    def report(self, word: str) -> None: ...


class AssertionsFailed(SystemExit):
    """Tests failed, each by an assertion of its own."""

    def __init__(self, message: str) -> None:
        super().__init__(1)
        self.message = message


def raised_by_tests(frames: Any, filename: str) -> bool:
    """Whether the innermost frame of either is one of the tests, not one of the solution (in filename)."""
    of_tests = False
    while frames is not None:
        name = frames.tb_frame.f_code.co_filename
        of_tests = name == _TESTS or (of_tests and name != filename)
        frames = frames.tb_next
    return of_tests


def pytest_files() -> frozenset[str]:
    """What pytest would take for instructions."""
    return frozenset(name for name in _PYTEST_FILES if os.path.lexists(name))


def collect_and_run(
    code: CodeType, names: dict[str, Any], call: Callable[..., Any], reporter: TamperReporter, *, may_skip: bool
) -> None:
    """Raises SystemExit where not every test passed, or none did. may_skip: the tests' own text speaks of skipping."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ.pop("PYTEST_PLUGINS", None)
    call(exec, code, names)
    import pytest

    path = names["__file__"]
    counting = _make_plugin(pytest, path)
    status = call(pytest.main, [*_OPTIONS, "--rootdir", os.path.dirname(path), path], [counting])
    if counting.skipped and not may_skip:
        reporter.report("skipping")
    if counting.finished < counting.collected and not counting.refused:
        reporter.report("early_exit")
    if counting.refused and counting.refused == len(counting.assertions):
        raise AssertionsFailed(counting.assertions[0])
    if counting.refused or status != 0 or not counting.passed:
        raise SystemExit(int(status) or 1)


def _make_plugin(pytest: Any, filename: str) -> Any:
    class InMemory(pytest.Module):  # type: ignore[misc]
        def _getobj(self) -> Any:
            return sys.modules["__main__"]

    class Counting:
        def __init__(self) -> None:
            self.collected = self.finished = self.passed = self.refused = self.skipped = 0
            self.assertions: list[str] = []

        @pytest.hookimpl(tryfirst=True)  # type: ignore[untyped-decorator, unused-ignore]
        def pytest_pycollect_makemodule(self, module_path: Any, parent: Any) -> Any:
            return InMemory.from_parent(parent, path=module_path)

        def pytest_collection_finish(self, session: Any) -> None:
            self.collected = len(session.items)

        def pytest_collectreport(self, report: Any) -> None:
            self.refused += report.failed

        def pytest_exception_interact(self, node: Any, call: Any) -> None:
            error = call.excinfo.value
            is_own = not hasattr(error, "_sandbox_frames") and raised_by_tests(call.excinfo.tb, filename)
            if isinstance(error, AssertionError) and is_own:
                self.assertions.append(f"{node.name}: {str(error)[:200]}")

        def pytest_runtest_logreport(self, report: Any) -> None:
            self.refused += report.failed
            self.passed += report.when == "call" and report.passed
            self.skipped += report.skipped
            self.finished += report.when == "teardown"

    return Counting()
