"""Programs with a main function: its return is told apart from every other way to leave.

In C++, Rust and Go, and with an extension of gcc in C, what is declared in main ends with it when it returns, and does not end
when the process exits. In Java, Scala and C# our main calls theirs.
"""

from __future__ import annotations

import re

from sandbox_runtime.judge.integrity.sealing.seal import Seal, recoded
from sandbox_runtime.judge.integrity.sealing.text import last_match
from sandbox_runtime.model import Job

_C_MAIN = re.compile(
    r"^[^\S\n]*(?:(?:static|extern)\s+)?(?:(?:int|signed|auto|long|int32_t|void)\s+)?main\s*\([^{};()]*\)[^{};()]*(?:\([^{};()]*\)[^{};()]*)?\{",
    re.MULTILINE,
)
_RUST_MAIN = re.compile(r"\bfn\s+main\s*\(\s*\)(?:(?!\bfn\b)[^{;])*\{")
_GO_MAIN = re.compile(r"^func\s+main\s*\(\s*\)\s*\{", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^[^\S\n]*package\s+\w+", re.MULTILINE)
_JAVA_MAIN = re.compile(r"\b(?:public\s+static|static\s+public)\s+(?:final\s+)?void\s+main\s*\(")
_SCALA_MAIN = re.compile(r"\bdef\s+main\s*\(\s*\w+\s*:\s*Array\s*\[\s*String\s*\]\s*\)")
_CSHARP_MAIN = re.compile(r"(?:\bpublic\s+|\bprivate\s+|\binternal\s+)?\bstatic\s+(void|int)\s+Main\s*\(([^(){};]*)\)")

# Assertions are the standard ones again, whatever stands above.
_CPP_BEFORE = """
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
struct sandbox_end_ {
    ~sandbox_end_() { char t[80]; if (::fgets(t, sizeof t, stdin)) { ::printf("\\n%s", t); ::fflush(stdout); } }
};
"""
_CPP_WITHIN = " sandbox_end_ sandbox_at_end_;"
_C_BEFORE = """
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
static void sandbox_end_(char *t) { if (fgets(t, 80, stdin)) { printf("\\n%s", t); fflush(stdout); } }
"""
_C_WITHIN = " char sandbox_at_end_[80] __attribute__((cleanup(sandbox_ending_)));"
_C_ENDING = "static void sandbox_ending_(char (*t)[80]) { sandbox_end_(*t); }\n"
_RUST_AFTER = """
struct SandboxEnd_;
impl Drop for SandboxEnd_ {
    fn drop(&mut self) {
        let mut t = ::std::string::String::new();
        if ::std::io::stdin().read_line(&mut t).is_ok() && !::std::thread::panicking() { ::std::print!("\\n{}", t); }
    }
}
"""
_RUST_WITHIN = " let _sandbox_end_ = SandboxEnd_;"
_GO_IMPORTS = '\nimport sandboxfmt_ "fmt"\nimport sandboxos_ "os"\n'
_GO_WITHIN = " defer sandboxEnd_();"
_GO_AFTER = """
func sandboxEnd_() {
	if r := recover(); r != nil { panic(r) }
	t := make([]byte, 80)
	n, _ := sandboxos_.Stdin.Read(t)
	sandboxfmt_.Fprintf(sandboxos_.Stdout, "\\n%s", t[:n])
}
"""
_JAVA_MAIN_OF_OURS = """public static void main(String[] w) throws Throwable {
        sandboxMain_(w);
        byte[] t = new byte[80];
        int n = System.in.read(t);
        java.io.OutputStream out = new java.io.FileOutputStream(java.io.FileDescriptor.out);
        System.out.flush();
        out.write('\\n');
        out.write(t, 0, Math.max(n, 0));
        out.flush();
    }
    public static void sandboxMain_("""
_SCALA_MAIN_OF_OURS = """def main(w: Array[String]): Unit = {
    sandboxMain_(w)
    Console.out.flush()
    val t = new Array[Byte](80)
    val n = System.in.read(t)
    val out = new java.io.FileOutputStream(java.io.FileDescriptor.out)
    out.write(10); out.write(t, 0, math.max(n, 0)); out.flush()
  }
  def sandboxMain_("""
_CSHARP_TELLS = 'System.Console.Out.Flush(); System.Console.Out.Write("\\n" + System.Console.In.ReadLine() + "\\n");'


def cpp(job: Job) -> Seal | None:
    return _inserted(job, _C_MAIN, _CPP_BEFORE, _CPP_WITHIN)


def c(job: Job) -> Seal | None:
    return _inserted(job, _C_MAIN, _C_BEFORE + _C_ENDING, _C_WITHIN)


def rust(job: Job) -> Seal | None:
    return _inserted(job, _RUST_MAIN, "", _RUST_WITHIN, _RUST_AFTER)


def go(job: Job) -> Seal | None:
    package = _GO_PACKAGE.search(job.code)
    sealed = _inserted(job, _GO_MAIN, "", _GO_WITHIN, _GO_AFTER)
    if package is None or sealed is None:
        return None
    code = sealed.job.code
    return recoded(job, code[: package.end()] + _GO_IMPORTS + code[package.end() :])


def java(job: Job) -> Seal | None:
    found = last_match(_JAVA_MAIN, job.code)
    return found and recoded(job, job.code[: found.start()] + _JAVA_MAIN_OF_OURS + job.code[found.end() :])


def scala(job: Job) -> Seal | None:
    found = last_match(_SCALA_MAIN, job.code)
    if found is None:
        return None
    parameters = found[0].partition("(")[2]
    return recoded(job, job.code[: found.start()] + _SCALA_MAIN_OF_OURS + parameters + job.code[found.end() :])


def csharp(job: Job) -> Seal | None:
    found = last_match(_CSHARP_MAIN, job.code)
    if found is None:
        return None
    kind, parameters = found[1], found[2]
    call = f"SandboxMain_({'new string[0]' if parameters.strip() else ''})"
    ours = f"public static void Main() {{ {call}; {_CSHARP_TELLS} }}"
    if kind == "int":
        ours = f"public static int Main() {{ int r = {call}; if (r == 0) {{ {_CSHARP_TELLS} }} return r; }}"
    theirs = f"public static {kind} SandboxMain_({parameters})"
    return recoded(job, f"{job.code[: found.start()]}{ours}\n{theirs}{job.code[found.end() :]}")


def _inserted(job: Job, main: re.Pattern[str], before: str, within: str, after: str = "") -> Seal | None:
    """before: in front of the line on which main begins; within: the first of its statements; after: at the end of it all."""
    found = last_match(main, job.code)
    if found is None:
        return None
    line = job.code.rfind("\n", 0, found.start() + 1) + 1 if before else found.start()
    code = job.code
    return recoded(job, code[:line] + before + code[line : found.end()] + within + code[found.end() :] + after)
