"""Exit proofs for scripts: the end of their text is reached only if everything before it succeeded."""

from __future__ import annotations

import re
from collections.abc import Callable

from sandbox_runtime.judge.integrity.exit_proof.proof import ExitProof, fill_prompt, proof_with_code
from sandbox_runtime.model import Job, Output

_JAVASCRIPT_PROLOGUE = (
    '{ const a = globalThis.process.getBuiltinModule("node:assert"); Object.freeze(a); Object.freeze(a.strict); } '
)
_JAVASCRIPT_STRICT = re.compile(r"\A(?:#![^\n]*\n)?\s{0,200}(?:\"use strict\"|'use strict');?")
# Promises are awaited: beforeExit fires when nothing is left to do. An unhandled rejection ends the process before it.
_JAVASCRIPT_EPILOGUE = r"""
;{ const process = globalThis.process, fs = process.getBuiltinModule("node:fs"), [a, b] = ["FIRST_HALF", "SECOND_HALF"];
const decoder = new TextDecoder(), bytes = new Uint8Array(80), turn = new Int32Array(new SharedArrayBuffer(4));
const read = () => { for (;;) { try { return fs.readSync(0, bytes, 0, 80, null); } catch (error) {
if (error.code !== "EAGAIN") throw error; Atomics.wait(turn, 0, 0, 2); } } };
process.removeAllListeners("unhandledRejection"); process.removeAllListeners("uncaughtException");
process.prependOnceListener("beforeExit", (code) => { if (code) return; fs.writeSync(1, "\n" + b + a + "\n");
fs.writeSync(1, decoder.decode(bytes.subarray(0, read()))); }); }
"""
_PHP = """
;(function () { $a = "FIRST_HALF"; $b = "SECOND_HALF"; \\fflush(\\STDOUT); \\fwrite(\\STDOUT, "\\n" . $b . $a . "\\n");
\\fwrite(\\STDOUT, \\fgets(\\STDIN)); })();
"""
_PERL = """
;{ local ($, , $\\, $/) = (undef, undef, "\\n"); my ($a, $b) = ("FIRST_HALF", "SECOND_HALF"); my $kept = select(STDOUT); $| = 1;
print STDOUT "\\n", $b, $a, "\\n"; my $sandbox_end_ = <STDIN>; print STDOUT $sandbox_end_; select($kept); }
"""
_R = """
base::local({ a <- "FIRST_HALF"; b <- "SECOND_HALF"; base::cat("\\n", b, a, "\\n", sep = ""); base::flush(base::stdout())
t <- base::readLines(base::file("stdin"), 1L); base::cat(t, "\\n", sep = "") })
"""
_JULIA = """
let a = "FIRST_HALF", b = "SECOND_HALF"
    Base.print(Base.stdout, "\\n", b, a, "\\n"); Base.flush(Base.stdout)
    Base.print(Base.stdout, Base.readline(Base.stdin), "\\n")
end
"""
_RACKET = """
(let ([a "FIRST_HALF"] [b "SECOND_HALF"])
  (printf "\\n~a~a\\n" b a) (flush-output) (printf "~a\\n" (read-line)))
"""
_BASH = """
sandbox_status_=$?
builtin unset -f builtin read printf exit 2>/dev/null
if ((sandbox_status_ == 0)); then
sandbox_a_=FIRST_HALF sandbox_b_=SECOND_HALF
builtin printf '\\n%s%s\\n' "$sandbox_b_" "$sandbox_a_"
IFS= builtin read -r sandbox_end_; builtin printf '%s\\n' "$sandbox_end_"; fi
builtin exit "$sandbox_status_"
"""
_LUA_PROMPT = (
    'do local a, b = "FIRST_HALF", "SECOND_HALF" io.stdout:write("\\n", b, a, "\\n") io.stdout:flush() '
    'io.stdout:write(io.stdin:read("l") or "", "\\n") io.stdout:flush() end'
)
_LUA_SAVE_FUNCTIONS = (
    'local sandbox_kept_, sandbox_exit_, sandbox_unit_ = {}, os.exit, require("luaunit") for _, sandbox_place_ in '
    "ipairs({_G, sandbox_unit_, sandbox_unit_.LuaUnit}) do local kept = {} sandbox_kept_[sandbox_place_] = kept "
    'for key, value in pairs(sandbox_place_) do if type(value) == "function" then kept[key] = value end end end '
)
_LUA_RESTORE_FUNCTIONS = (
    "for place, kept in next, sandbox_kept_ do for key, value in next, kept do rawset(place, key, value) end end\n"
)
_LUA_RUN_CALL = re.compile(r"\bos\.exit\s*\(\s*([\w.:]*\brun\w*\s*\([^()]*\))\s*\)\s*\Z")
_RUBY_PROMPT = 'a, b = "FIRST_HALF", "SECOND_HALF"; $stdout.flush; STDOUT.syswrite("\\n#{b}#{a}\\n"); STDOUT.syswrite(STDIN.gets)'
_RUBY_UNIT = re.compile(r"^[^\S\n]*require\s*(?:\(\s*)?['\"]test/unit['\"]", re.MULTILINE)
_RUBY_MINITEST = re.compile(r"^[^\S\n]*require\s*(?:\(\s*)?['\"]minitest/autorun['\"]", re.MULTILINE)
# Test::Unit would run its tests when the program ends: they are run here, so that leaving them leaves this, too.
_RUBY_RUN_TESTS = """
Test::Unit::AutoRunner.need_auto_run = false
sandbox_passed_ = Test::Unit::AutoRunner.run
if sandbox_passed_ then {prompt} end
exit(sandbox_passed_)
"""
_RUBY_SUMMARY = re.compile(rb"^(\d+) (?:tests|runs), \d+ assertions, (\d+) failures, (\d+) errors", re.MULTILINE)


def with_epilogue(epilogue: str) -> Callable[[Job], ExitProof | None]:
    return lambda job: proof_with_code(job, job.code + fill_prompt(epilogue, job))


perl = with_epilogue(_PERL)
r = with_epilogue(_R)
julia = with_epilogue(_JULIA)
racket = with_epilogue(_RACKET)
bash = with_epilogue(_BASH)


def javascript(job: Job) -> ExitProof | None:
    """Freeze the assertions of Node.js that tests use, so that a solution cannot replace them."""
    strict = _JAVASCRIPT_STRICT.match(job.code)
    start = strict.end() if strict else 0
    return proof_with_code(
        job, job.code[:start] + _JAVASCRIPT_PROLOGUE + job.code[start:] + fill_prompt(_JAVASCRIPT_EPILOGUE, job)
    )


def php(job: Job) -> ExitProof | None:
    code = job.code.rstrip()
    return proof_with_code(job, code.removesuffix("?>") + fill_prompt(_PHP, job))


def lua(job: Job) -> ExitProof | None:
    """luaunit programs end with os.exit of its result. Functions that its assertions use are restored before the tests run."""
    code, prompt = job.code.rstrip(), fill_prompt(_LUA_PROMPT, job)
    found = _LUA_RUN_CALL.search(code)
    if found is None:
        return proof_with_code(job, f"{code}\n{prompt}\n")
    ends = f"local sandbox_status_ = {found[1]}\nif sandbox_status_ == 0 then {prompt} end\nsandbox_exit_(sandbox_status_)\n"
    return proof_with_code(job, _LUA_SAVE_FUNCTIONS + code[: found.start()] + _LUA_RESTORE_FUNCTIONS + ends)


def ruby(job: Job) -> ExitProof | None:
    """minitest runs its tests at exit. The handler registered first is called last."""
    prompt = fill_prompt(_RUBY_PROMPT, job)
    if _RUBY_UNIT.search(job.code):
        return proof_with_code(job, job.code + _RUBY_RUN_TESTS.replace("{prompt}", prompt), _ruby_tests_ran)
    if _RUBY_MINITEST.search(job.code):
        return proof_with_code(job, f"at_exit {{ {prompt} }}\n{job.code}", _ruby_tests_ran)
    return proof_with_code(job, f"{job.code}\n{prompt}\n")


def _ruby_tests_ran(stdout: Output) -> bool:
    """Require exactly one summary, of passed tests: a second one would be printed by the program itself."""
    summaries = _RUBY_SUMMARY.findall(bytes(stdout))
    return len(summaries) == 1 and int(summaries[0][0]) > 0 and summaries[0][1:] == (b"0", b"0")
