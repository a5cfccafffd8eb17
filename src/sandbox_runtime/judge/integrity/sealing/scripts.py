"""Scripts: what stands last in their text is reached only when all before it went well."""

from __future__ import annotations

import re
from collections.abc import Callable

from sandbox_runtime.judge.integrity.sealing.seal import Seal, recoded, token_printed
from sandbox_runtime.model import Job, JobResult, Output

_JAVASCRIPT = r"""
;{ const sandboxFs_ = globalThis.process.getBuiltinModule("node:fs"), sandboxBytes_ = new Uint8Array(80);
const sandboxRead_ = sandboxFs_.readSync(0, sandboxBytes_, 0, 80, null);
sandboxFs_.writeSync(1, "\n" + new TextDecoder().decode(sandboxBytes_.subarray(0, sandboxRead_))); }
"""
_PHP = '\n;\\fflush(\\STDOUT); \\fwrite(\\STDOUT, "\\n" . \\fgets(\\STDIN));\n'
_PERL = """
;{ local ($, , $\\, $/) = (undef, undef, "\\n"); my $sandbox_end_ = <STDIN>; print STDOUT "\\n", $sandbox_end_; }
"""
_R = """
base::local({ t <- base::readLines(base::file("stdin"), 1L); base::cat("\\n", t, "\\n", sep = "") })
"""
_JULIA = """
Base.print(Base.stdout, "\\n", Base.readline(Base.stdin), "\\n")
"""
_RACKET = """
(let ([sandbox-end (read-line)]) (newline) (display sandbox-end) (newline))
"""
_BASH = """
sandbox_status_=$?
builtin unset -f builtin read printf exit 2>/dev/null
if ((sandbox_status_ == 0)); then IFS= builtin read -r sandbox_end_; builtin printf '\\n%s\\n' "$sandbox_end_"; fi
builtin exit "$sandbox_status_"
"""
_LUA_TELLS = 'io.stdout:write("\\n", io.stdin:read("l") or "", "\\n") io.stdout:flush()'
_LUA_RUNS = re.compile(r"\bos\.exit\s*\(\s*([\w.:]*\brun\w*\s*\([^()]*\))\s*\)\s*\Z")
_RUBY_TELLS = '$stdout.flush; STDOUT.syswrite("\\n#{STDIN.gets}")'
_RUBY_UNIT = re.compile(r"^[^\S\n]*require\s*(?:\(\s*)?['\"](?:test/unit|minitest/autorun)['\"]", re.MULTILINE)
_RUBY_SUMMARY = re.compile(rb"^(\d+) (?:tests|runs), (\d+) assertions, 0 failures, 0 errors", re.MULTILINE)


def with_epilogue(epilogue: str) -> Callable[[Job], Seal | None]:
    return lambda job: recoded(job, job.code + epilogue)


javascript = with_epilogue(_JAVASCRIPT)
perl = with_epilogue(_PERL)
r = with_epilogue(_R)
julia = with_epilogue(_JULIA)
racket = with_epilogue(_RACKET)
bash = with_epilogue(_BASH)


def php(job: Job) -> Seal | None:
    code = job.code.rstrip()
    return recoded(job, code.removesuffix("?>") + _PHP)


def lua(job: Job) -> Seal | None:
    """luaunit's programs end with os.exit of what it says."""
    code = job.code.rstrip()
    found = _LUA_RUNS.search(code)
    if found is None:
        return recoded(job, f"{code}\n{_LUA_TELLS}\n")
    ends = f"local sandbox_status_ = {found[1]}\nif sandbox_status_ == 0 then {_LUA_TELLS} end\nos.exit(sandbox_status_)\n"
    return recoded(job, code[: found.start()] + ends)


def ruby(job: Job) -> Seal | None:
    """Test::Unit runs its tests when the program ends. What is registered first is called last; and tests must have been run."""
    if not _RUBY_UNIT.search(job.code):
        return recoded(job, f"{job.code}\n{_RUBY_TELLS}\n")
    return recoded(job, f"at_exit {{ {_RUBY_TELLS} }}\n{job.code}", _ruby_tests_ran)


def _ruby_tests_ran(result: JobResult, token: str) -> tuple[bool, Output]:
    shown, stdout = token_printed(result, token)
    summaries = _RUBY_SUMMARY.findall(bytes(stdout))
    return shown and len(summaries) == 1 and int(summaries[0][0]) > 0, stdout
