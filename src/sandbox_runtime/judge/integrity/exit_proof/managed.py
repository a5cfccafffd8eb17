"""Exit proofs for Java, Scala, Kotlin scripts and C#: our main calls the program's, or the script continues after its end."""

from __future__ import annotations

import re

from sandbox_runtime.judge.integrity.exit_proof.proof import ExitProof, fill_prompt, last_match, proof_with_code
from sandbox_runtime.model import Job

_JAVA_MAIN = re.compile(r"\b(?:public\s+static|static\s+public)\s+(?:final\s+)?void\s+main\s*\(")
_SCALA_MAIN = re.compile(r"\bdef\s+main\s*\(\s*\w+\s*:\s*Array\s*\[\s*String\s*\]\s*\)")
_SCALA_APP = re.compile(r"\b(?:extends|with)\s+(?:scala\s*\.\s*)?App\b[^{};]{0,100}\{")
_CSHARP_MAIN = re.compile(
    r"(?:\bpublic\s+|\bprivate\s+|\binternal\s+)?\bstatic\s+(?:async\s+)?"
    r"(void|int|(?:System\.Threading\.Tasks\.)?Task(?:\s*<\s*int\s*>)?)\s+Main\s*\(([^(){};]*)\)"
)

_JAVA_CALLING_MAIN = """public static void main(String[] w) throws Throwable {
        sandboxMain_(w);
        String a = "FIRST_HALF", b = "SECOND_HALF";
        java.io.OutputStream out = new java.io.FileOutputStream(java.io.FileDescriptor.out);
        System.out.flush();
        out.write(("\\n" + b + a + "\\n").getBytes());
        out.flush();
        byte[] t = new byte[80];
        int n = new java.io.FileInputStream(java.io.FileDescriptor.in).read(t);
        out.write(t, 0, Math.max(n, 0));
        out.flush();
    }
    public static void sandboxMain_("""
_SCALA_PROMPT = """
    val a = "FIRST_HALF"
    val b = "SECOND_HALF"
    Console.out.flush()
    val out = new java.io.FileOutputStream(java.io.FileDescriptor.out)
    out.write(("\\n" + b + a + "\\n").getBytes); out.flush()
    val t = new Array[Byte](80)
    val n = new java.io.FileInputStream(java.io.FileDescriptor.in).read(t)
    out.write(t, 0, math.max(n, 0)); out.flush()
  }
"""
_SCALA_CALLING_MAIN = "def main(w: Array[String]): Unit = {\n    sandboxMain_(w)" + _SCALA_PROMPT + "  def sandboxMain_("
_SCALA_APP_MAIN = "\n  override def main(w: Array[String]): Unit = {\n    super.main(w)" + _SCALA_PROMPT
_CSHARP_PROMPT = (
    'string a = "FIRST_HALF", b = "SECOND_HALF"; System.Console.Out.Write("\\n" + b + a + "\\n"); System.Console.Out.Flush(); '
    'System.Console.Out.Write(System.Console.In.ReadLine() + "\\n"); System.Console.Out.Flush();'
)
_KOTLIN_EPILOGUE = """
run {
    val a = "FIRST_HALF"
    val b = "SECOND_HALF"
    System.out.flush()
    val out = java.io.FileOutputStream(java.io.FileDescriptor.out)
    out.write(("\\n" + b + a + "\\n").toByteArray()); out.flush()
    val t = ByteArray(80)
    val n = java.io.FileInputStream(java.io.FileDescriptor.`in`).read(t)
    out.write(t, 0, maxOf(n, 0)); out.flush()
}
"""


def java(job: Job) -> ExitProof | None:
    found = last_match(_JAVA_MAIN, job.code)
    if found is None:
        return None
    return proof_with_code(job, job.code[: found.start()] + fill_prompt(_JAVA_CALLING_MAIN, job) + job.code[found.end() :])


def scala(job: Job) -> ExitProof | None:
    """An App runs the body of its object when main is called."""
    app, main, code = last_match(_SCALA_APP, job.code), last_match(_SCALA_MAIN, job.code), job.code
    if app is not None and (main is None or main.start() < app.start()):
        return proof_with_code(job, code[: app.end()] + fill_prompt(_SCALA_APP_MAIN, job) + code[app.end() :])
    if main is None:
        return None
    parameters = main[0].partition("(")[2]
    return proof_with_code(job, code[: main.start()] + fill_prompt(_SCALA_CALLING_MAIN, job) + parameters + code[main.end() :])


def kotlin_script(job: Job) -> ExitProof | None:
    return proof_with_code(job, job.code + fill_prompt(_KOTLIN_EPILOGUE, job))


def csharp(job: Job) -> ExitProof | None:
    found = last_match(_CSHARP_MAIN, job.code)
    if found is None:
        return None
    kind, parameters = found[1], found[2]
    call, prompt = f"SandboxMain_({'new string[0]' if parameters.strip() else ''})", fill_prompt(_CSHARP_PROMPT, job)
    if "Task" in kind:
        call += ".GetAwaiter().GetResult()"
    ours = f"public static void Main() {{ {call}; {prompt} }}"
    if kind.endswith(("int", ">")):
        ours = f"public static int Main() {{ int r = {call}; if (r == 0) {{ {prompt} }} return r; }}"
    theirs = re.sub(r"\bMain\s*\(", "SandboxMain_(", found[0])
    return proof_with_code(job, f"{job.code[: found.start()]}{ours}\n{theirs}{job.code[found.end() :]}")
