"""Tests that a runner of tests runs: its summary is read, and it must tell of tests."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from sandbox_runtime.judge.integrity.sealing.seal import Asks, Read, Seal, token_filed
from sandbox_runtime.judge.integrity.sealing.text import blanked
from sandbox_runtime.model import Job, JobResult, Output

_GO_PACKAGE = re.compile(r"^[^\S\n]*package\s+\w+", re.MULTILINE)
_GO_TEST_MAIN = re.compile(r"\bfunc\s+TestMain\s*\(")
_GO_IMPORTS = '\nimport sandboxos_ "os"\nimport sandboxtesting_ "testing"\n'
_GO_MAIN = """
func TestMain(m *sandboxtesting_.M) {
	code := m.Run()
	if code == 0 {
		if t, err := sandboxos_.ReadFile(".sandbox-token"); err == nil { sandboxos_.WriteFile(".sandbox-end", t, 0o644) }
	}
	sandboxos_.Exit(code)
}
"""
_RUST = re.compile(rb"^test result: ok\. (\d+) passed; 0 failed;", re.MULTILINE)
_D = re.compile(rb"^(\d+) modules passed unittests", re.MULTILINE)
_JEST = re.compile(rb"^Tests:\s+(?:\d+ (?:skipped|todo), )*(\d+) passed, \d+ total", re.MULTILINE)
_JUNIT_PASSED = re.compile(rb"^\[\s*(\d+) tests successful\s*\]", re.MULTILINE)
_JUNIT_FAILED = re.compile(rb"^\[\s*(\d+) (?:tests|containers) failed\s*\]", re.MULTILINE)
_VERILOG_ENDS = re.compile(r"\$(?:finish|stop|fatal|exit)\b")
_VERILOG = re.compile(rb"^Mismatches: (\d+) in (\d+) samples", re.MULTILINE)


def go_test(job: Job) -> Seal | None:
    """`go test` gives tests neither standard input nor output: the token travels in files."""
    package = _GO_PACKAGE.search(job.code)
    if package is None or _GO_TEST_MAIN.search(job.code):
        return None
    code = job.code[: package.end()] + _GO_IMPORTS + job.code[package.end() :] + _GO_MAIN
    return Seal(replace(job, code=code), token_filed, Asks.file)


def by_summary(read: Read) -> Callable[[Job], Seal | None]:
    return lambda job: Seal(job, read, Asks.nothing)


def _one_summary(pattern: re.Pattern[bytes]) -> Read:
    """Exactly one, and it tells of tests that passed: one more would be the program's own."""

    def read(result: JobResult, _token: str) -> tuple[bool, Output]:
        assert result.run is not None
        found = pattern.findall(bytes(result.run.stdout) + b"\n" + bytes(result.run.stderr))
        return len(found) == 1 and int(found[0]) > 0, result.run.stdout

    return read


def _junit(result: JobResult, _token: str) -> tuple[bool, Output]:
    assert result.run is not None
    printed = bytes(result.run.stdout)
    passed, failed = _JUNIT_PASSED.findall(printed), _JUNIT_FAILED.findall(printed)
    return len(passed) == 1 and int(passed[0]) > 0 and not any(map(int, failed)), result.run.stdout


def _verilog(result: JobResult, _token: str) -> tuple[bool, Output]:
    """Test benches that count tell their count once. Others are judged by what they must print."""
    assert result.run is not None
    counts = _VERILOG.findall(bytes(result.run.stdout))
    return len(counts) <= 1, result.run.stdout


def ends_the_simulation(design: str) -> bool:
    """A design has no business ending the test bench that it is in: what was counted so far would be told as if it were all."""
    return _VERILOG_ENDS.search(blanked(design)) is not None


d = by_summary(_one_summary(_D))
rust_test = by_summary(_one_summary(_RUST))
jest = by_summary(_one_summary(_JEST))
junit = by_summary(_junit)
verilog = by_summary(_verilog)
