"""Detect from its last output whether a non-Python program failed by an assertion.

Solution and tests share a process there, so an assertion of the solution counts as one of the tests. In languages that are not
listed, assertion failures look like any other failure and stay `runtime_error`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from sandbox_runtime.model import Ending, Outcome

_TAIL_BYTES = 16 * 1024
_C = rb"Assertion [`'].{0,2000}' failed"
_JVM = rb"\bjava\.lang\.AssertionError\b|\bAssertionFailedError\b|\bassertion failed\b"
_NODE = rb"\bAssertionError\b"
_PATTERNS: Mapping[str, re.Pattern[bytes]] = MappingProxyType(
    {
        "c": re.compile(_C),
        "cpp": re.compile(_C),
        "rust": re.compile(rb"\bassertion (?:failed\b|`[^`\n]{1,200}` failed)"),
        "rust_test": re.compile(rb"\bassertion (?:failed\b|`[^`\n]{1,200}` failed)"),
        "go_test": re.compile(rb"(?m)^[ \t]{0,20}--- FAIL: "),
        "java": re.compile(_JVM),
        "junit": re.compile(_JVM),
        "scala": re.compile(_JVM),
        "nodejs": re.compile(_NODE),
        "typescript": re.compile(_NODE),
        "jest": re.compile(rb"\bexpect\(|\bAssertionError\b"),
        "csharp": re.compile(rb"\bAssertion [Ff]ailed\b|\bDebug\.Assert\b"),
        "php": re.compile(rb"\bAssertionError\b|\bassert\("),
        "ruby": re.compile(rb"(?m)^Failure: |\bAssertionFailedError\b"),
        "lua": re.compile(rb"\bassertion failed\b|\bexpected: "),
        "julia": re.compile(rb"\bTest Failed at\b|\bAssertionError\b"),
        "D_ut": re.compile(rb"\bcore\.exception\.AssertError\b|\bAssertion failure\b|\bunittest failure\b"),
        "racket": re.compile(rb"(?m)^FAILURE$"),
        "perl": re.compile(rb"(?m)^not ok\b"),
    }
)
_CRASH = re.compile(rb"(?m)^panic: ")
"""Go prints the same failure line when the solution panics."""


def failed_by_assertion(language: str, run: Outcome) -> bool:
    pattern = _PATTERNS.get(language)
    if pattern is None or run.ok or run.ending not in (Ending.exited, Ending.signaled):
        return False
    last = b"\n".join((stream.tail or stream.head)[-_TAIL_BYTES:] for stream in (run.stdout, run.stderr))
    return pattern.search(last) is not None and not (language == "go_test" and _CRASH.search(last))
