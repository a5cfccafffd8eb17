"""Exit proofs for C, C++, Rust and Go: a return from main is distinguished from every other exit.

Our main calls the program's. If the end of that main cannot be found in C or C++, an object declared in it prompts when it is
destroyed.
"""

from __future__ import annotations

import re

from sandbox_runtime.judge.integrity.exit_proof.proof import ExitProof, closing_brace, fill_prompt, last_match, proof_with_code
from sandbox_runtime.model import Job

_C_MAIN = re.compile(
    r"^[^\S\n]*(?:(?:static|extern)\s+)?(?:(?:int|signed|auto|long|int32_t|void)\s+)?main\s*\([^{};()]*\)[^{};()]*(?:\([^{};()]*\)[^{};()]*)?\{",
    re.MULTILINE,
)
_C_NAME, _C_VOID = re.compile(r"\bmain\b"), re.compile(r"\bvoid\s+main\b")
_RUST_MAIN = re.compile(r"\bfn\s+main\s*\(\s*\)((?:(?!\bfn\b)[^{;])*)\{")
_RUST_ASYNC = re.compile(r"\basync\s+fn\s+main\b")
_GO_MAIN = re.compile(r"^func\s+main\s*\(\s*\)\s*\{", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^[^\S\n]*package\s+\w+", re.MULTILINE)

# Assertions are the standard ones again, whatever stands above.
_C_PROMPT = """
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
static void sandbox_ask_(void) {
    char t[80];
    printf("\\n%s%s\\n", sandbox_half_(1), sandbox_half_(0));
    fflush(stdout);
    if (fgets(t, sizeof t, stdin)) { printf("%s", t); fflush(stdout); }
}
"""
_C_HALF = '\nstatic const char *sandbox_half_(int n) { return n ? "SECOND_HALF" : "FIRST_HALF"; }'
_C_END_TYPE = _C_HALF + _C_PROMPT + "static void sandbox_end_(char *t) { sandbox_ask_(); }\n"
_C_END_OBJECT = " char sandbox_at_end_ __attribute__((cleanup(sandbox_end_)));"
_CPP_END_TYPE = _C_HALF + _C_PROMPT + "struct sandbox_end_ { ~sandbox_end_() { sandbox_ask_(); } };\n"
_CPP_END_OBJECT = " sandbox_end_ sandbox_at_end_;"
# `signed`, because programs define `int` as something else. One more argument than theirs takes does no harm.
_C_CALLING_MAIN = """
#undef main
signed main(signed n, char **w, char **e) {
    signed r = ((signed (*)(signed, char **, char **))sandbox_main_)(n, w, e);
    if (r == 0) sandbox_ask_();
    return r;
}
"""
_RUST_PROMPT = """
fn sandbox_ask_() {
    use ::std::io::Write;
    let (a, b) = ("FIRST_HALF", "SECOND_HALF");
    let mut t = ::std::string::String::new();
    ::std::print!("\\n{}{}\\n", b, a);
    let _ = ::std::io::stdout().flush();
    if ::std::io::stdin().read_line(&mut t).is_ok() { ::std::print!("{}", t); }
}
"""
_RUST_CALLING_MAIN = "fn main(){returns}{{ let r = sandbox_main_(); sandbox_ask_(); r }}\n"
_RUST_END_TYPE = """
struct SandboxEnd_;
impl Drop for SandboxEnd_ {
    fn drop(&mut self) { if !::std::thread::panicking() { sandbox_ask_(); } }
}
"""
_GO_IMPORTS = '\nimport sandboxfmt_ "fmt"\nimport sandboxos_ "os"\n'
_GO_CALLING_MAIN = """
func main() {
	sandboxMain_()
	a, b, t := "FIRST_HALF", "SECOND_HALF", make([]byte, 80)
	sandboxfmt_.Fprintf(sandboxos_.Stdout, "\\n%s%s\\n", b, a)
	n, _ := sandboxos_.Stdin.Read(t)
	sandboxos_.Stdout.Write(t[:n])
}
"""


def c(job: Job) -> ExitProof | None:
    return _with_calling_main(job) or _with_end_object(job, _C_END_TYPE, _C_END_OBJECT)


def cpp(job: Job) -> ExitProof | None:
    return _with_calling_main(job) or _with_end_object(job, _CPP_END_TYPE, _CPP_END_OBJECT)


def rust(job: Job) -> ExitProof | None:
    """An async main has a macro that needs its name: a value that is dropped at its end prompts."""
    found, code = last_match(_RUST_MAIN, job.code), job.code
    if found is None:
        return None
    prompt = fill_prompt(_RUST_PROMPT, job)
    if _RUST_ASYNC.search(code):
        return proof_with_code(
            job, f"{code[: found.end()]} let _sandbox_end_ = SandboxEnd_;{code[found.end() :]}{prompt}{_RUST_END_TYPE}"
        )
    theirs = found[0].replace("main", "sandbox_main_", 1)
    calls = _RUST_CALLING_MAIN.format(returns=code[found.start(1) : found.end(1)])
    return proof_with_code(job, f"{code[: found.start()]}{theirs}{code[found.end() :]}{prompt}{calls}")


def go(job: Job) -> ExitProof | None:
    package, main, code = _GO_PACKAGE.search(job.code), last_match(_GO_MAIN, job.code), job.code
    if package is None or main is None:
        return None
    theirs = f"{code[package.end() : main.start()]}func sandboxMain_() {{{code[main.end() :]}"
    return proof_with_code(job, code[: package.end()] + _GO_IMPORTS + theirs + fill_prompt(_GO_CALLING_MAIN, job))


def _with_calling_main(job: Job) -> ExitProof | None:
    """Add a main that calls the program's, which returns 0 at its end. None if that end cannot be found or main is void."""
    found, code = last_match(_C_MAIN, job.code), job.code
    end = closing_brace(code, found.end()) if found else -1
    if found is None or end < 0 or _C_VOID.search(found[0]) or "\n#" in code[found.end() : end]:  # conditions may hide braces
        return None
    theirs = _C_NAME.sub("sandbox_main_", code[found.start() : found.end()], count=1)
    before = code[: found.start()] + "\n" + fill_prompt(_C_HALF + _C_PROMPT, job)
    return proof_with_code(job, f"{before}{theirs}{code[found.end() : end]} return 0; {code[end:]}{_C_CALLING_MAIN}")


def _with_end_object(job: Job, before: str, within: str) -> ExitProof | None:
    """before: inserted before the line of main. within: the first statement of main, an object that prompts when destroyed."""
    found, code = last_match(_C_MAIN, job.code), job.code
    if found is None:
        return None
    line = code.rfind("\n", 0, found.start() + 1) + 1
    return proof_with_code(job, code[:line] + fill_prompt(before, job) + code[line : found.end()] + within + code[found.end() :])
