"""Exit proofs for test runners: a hook of the runner prompts at the end, or its summary is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from sandbox_runtime.judge.integrity.exit_proof.proof import (
    ExitProof,
    ProofKind,
    blank_comments,
    fill_prompt,
    last_match,
    proof_with_code,
)
from sandbox_runtime.model import File, Job, JobResult, Output

_GO_PACKAGE = re.compile(r"^[^\S\n]*package\s+\w+", re.MULTILINE)
_GO_TEST_MAIN = re.compile(r"\bfunc\s+TestMain\s*\(\s*(\w*)")
_GO_RUN_CALL = re.compile(r"\b(\w+)\.Run\(\)")
_GO_IMPORTS = '\nimport sandboxfmt_ "fmt"\nimport sandboxos_ "os"\nimport sandboxtesting_ "testing"\n'
# `go test` gives tests neither standard input nor output: its own are used.
_GO_RUN_FUNCTION = """
func sandboxRun_(m *sandboxtesting_.M) int {
	code := m.Run()
	if code == 0 {
		a, b, t := "FIRST_HALF", "SECOND_HALF", make([]byte, 80)
		parent := sandboxfmt_.Sprintf("/proc/%d/fd/", sandboxos_.Getppid())
		out, err := sandboxos_.OpenFile(parent+"1", sandboxos_.O_WRONLY, 0)
		if err != nil { return code }
		in, err := sandboxos_.Open(parent + "0")
		if err != nil { return code }
		sandboxfmt_.Fprintf(out, "\\n%s%s\\n", b, a)
		n, _ := in.Read(t)
		out.Write(t[:n])
	}
	return code
}
"""
_GO_MAIN = "\nfunc TestMain(m *sandboxtesting_.M) { sandboxos_.Exit(sandboxRun_(m)) }\n"
_D_EPILOGUE = """
unittest {
    static import core.stdc.stdio;
    string a = "FIRST_HALF", b = "SECOND_HALF";
    char[80] t = 0;
    core.stdc.stdio.printf("\\n%.*s%.*s\\n", cast(int) b.length, b.ptr, cast(int) a.length, a.ptr);
    core.stdc.stdio.fflush(core.stdc.stdio.stdout);
    if (core.stdc.stdio.fgets(t.ptr, 80, core.stdc.stdio.stdin)) core.stdc.stdio.printf("%s", t.ptr);
    core.stdc.stdio.fflush(core.stdc.stdio.stdout);
}
"""
_JEST_PROLOGUE = (
    'for (const name of ["test", "it", "describe", "expect"]) '
    "Object.defineProperty(globalThis, name, { value: (globalThis as any)[name], writable: false, configurable: false }); "
)
_JEST_EPILOGUE = """
;{ const process = globalThis.process, fs = require("fs"), [a, b] = ["FIRST_HALF", "SECOND_HALF"];
afterAll(() => { const bytes = Buffer.alloc(80); fs.writeSync(1, "\\n" + b + a + "\\n");
fs.writeSync(1, bytes.subarray(0, fs.readSync(0, bytes, 0, 80, null))); }); }
"""
_JUNIT_LISTENER = "SandboxEnd_"
_JUNIT_SERVICE = "META-INF/services/org.junit.platform.launcher.TestExecutionListener"
_JUNIT_LISTENER_SOURCE = """public class SandboxEnd_ implements org.junit.platform.launcher.TestExecutionListener {
    @Override public void testPlanExecutionFinished(org.junit.platform.launcher.TestPlan plan) {
        String a = "FIRST_HALF", b = "SECOND_HALF";
        byte[] t = new byte[80];
        System.out.flush();
        try {
            java.io.OutputStream out = new java.io.FileOutputStream(java.io.FileDescriptor.out);
            out.write(("\\n" + b + a + "\\n").getBytes());
            int n = new java.io.FileInputStream(java.io.FileDescriptor.in).read(t);
            out.write(t, 0, Math.max(n, 0));
        } catch (java.io.IOException error) { }
    }
}
"""
_RUST_SUMMARY = re.compile(rb"^test result: (\w+)\. (\d+) passed; (\d+) failed;", re.MULTILINE)
_D_SUMMARY = re.compile(rb"^(?:\d+/)?(\d+) modules (passed|FAILED) unittests", re.MULTILINE)
_JEST_SUMMARY = re.compile(rb"^Tests:[ \t]+((?:\d+ \w+, ){0,9})\d+ total", re.MULTILINE)
_JEST_COUNT = re.compile(rb"\b(\d+) (\w+)")
_JUNIT_PASSED = re.compile(rb"^\[\s*(\d+) tests successful\s*\]", re.MULTILINE)
_JUNIT_FAILED = re.compile(rb"^\[\s*(\d+) (?:tests|containers) failed\s*\]", re.MULTILINE)
_VERILOG_END_TASK = re.compile(r"\$(?:finish|stop|fatal|exit)\b")
_VERILOG_SUMMARY = re.compile(rb"^Mismatches: (\d+) in (\d+) samples", re.MULTILINE)


def go_test(job: Job) -> ExitProof | None:
    """A TestMain of the program stays; its Run call goes through ours."""
    package = _GO_PACKAGE.search(job.code)
    if package is None:
        return None
    body, own = job.code[package.end() :], last_match(_GO_TEST_MAIN, job.code)
    if own is not None:
        body = _GO_RUN_CALL.sub(lambda found: f"sandboxRun_({found[1]})" if found[1] == own[1] else found[0], body)
    code = job.code[: package.end()] + _GO_IMPORTS + body + fill_prompt(_GO_RUN_FUNCTION, job)
    return proof_with_code(job, code if own is not None else code + _GO_MAIN)


def d(job: Job) -> ExitProof | None:
    """Unit tests run in text order, and none runs after a failed one."""
    return _also_summary(proof_with_code(job, job.code + fill_prompt(_D_EPILOGUE, job)), _d_passed)


def jest(job: Job) -> ExitProof | None:
    """The last hook of the file prompts, and the summary says whether tests failed."""
    return _also_summary(proof_with_code(job, _JEST_PROLOGUE + job.code + fill_prompt(_JEST_EPILOGUE, job)), _jest_passed)


def rust_test(job: Job) -> ExitProof | None:
    return _summary_proof(job, _rust_passed)


def junit(job: Job) -> ExitProof | None:
    """A listener of the runner prompts when all tests have ended."""
    listener = File(f"{_JUNIT_LISTENER}.java", fill_prompt(_JUNIT_LISTENER_SOURCE, job).encode())
    service = File(_JUNIT_SERVICE, f"{_JUNIT_LISTENER}\n".encode())
    sealed = proof_with_code(job, job.code)
    return _also_summary(replace(sealed, job=replace(job, files=(*job.files, listener, service))), _junit_passed)


def verilog(job: Job) -> ExitProof | None:
    """Test benches that count print their count once. Others are judged by their required output."""
    return _summary_proof(job, lambda printed: len(_VERILOG_SUMMARY.findall(printed)) <= 1)


def ends_simulation(design: str) -> bool:
    """Whether the design ends the test bench, so that a partial count would be reported as the whole."""
    return _VERILOG_END_TASK.search(blank_comments(design)) is not None


def _summary_proof(job: Job, passed: Callable[[bytes], bool]) -> ExitProof:
    def read(result: JobResult, _token: str) -> tuple[bool, Output]:
        assert result.run is not None
        return passed(_output_bytes(result)), result.run.stdout

    return ExitProof(job, read, ProofKind.summary)


def _also_summary(sealed: ExitProof, passed: Callable[[bytes], bool]) -> ExitProof:
    """Require the proof and a summary that says that all tests passed."""

    def read(result: JobResult, token: str) -> tuple[bool, Output]:
        shown, rest = sealed.read(result, token)
        return shown and passed(_output_bytes(result)), rest

    return ExitProof(sealed.job, read, prompt=sealed.prompt)


def _output_bytes(result: JobResult) -> bytes:
    assert result.run is not None
    return bytes(result.run.stdout) + b"\n" + bytes(result.run.stderr)


# Each requires exactly one summary, of passed tests: a second one would be printed by the program itself.
def _rust_passed(printed: bytes) -> bool:
    found = _RUST_SUMMARY.findall(printed)
    return len(found) == 1 and found[0][0] == b"ok" and int(found[0][1]) > 0 and found[0][2] == b"0"


def _d_passed(printed: bytes) -> bool:
    found = _D_SUMMARY.findall(printed)
    return len(found) == 1 and int(found[0][0]) > 0 and found[0][1] == b"passed"


def _jest_passed(printed: bytes) -> bool:
    found = _JEST_SUMMARY.findall(printed)
    counts = {word: int(number) for number, word in _JEST_COUNT.findall(found[0])} if len(found) == 1 else {}
    return counts.get(b"passed", 0) > 0 and set(counts) <= {b"passed", b"skipped", b"todo"}


def _junit_passed(printed: bytes) -> bool:
    passed, failed = _JUNIT_PASSED.findall(printed), _JUNIT_FAILED.findall(printed)
    return len(passed) == 1 and int(passed[0]) > 0 and not any(map(int, failed))
