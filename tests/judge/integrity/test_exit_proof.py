"""What is added to programs of other languages, and what their output has to show, without a box."""

from __future__ import annotations

import pytest

from sandbox_runtime.judge.integrity import inspect, prepare
from sandbox_runtime.judge.integrity.exit_proof import EXIT_PROOFS
from sandbox_runtime.judge.integrity.exit_proof.proof import closing_brace
from sandbox_runtime.judge.integrity.preparation import PreparedRun
from sandbox_runtime.judge.integrity.secret_tokens import Tokens
from sandbox_runtime.model import Ending, Job, JobResult, Outcome, Output
from sandbox_runtime.model.judge import Case, Guard, GuardKind, Trial

NONCE = "a nonce"
TOKEN = Tokens.of(NONCE).end
PROGRAMS = {
    "c": "int main(void) { return 0; }",
    "cpp": "int main() { return 0; }",
    "rust": "fn main() {}",
    "go": "package main\n\nfunc main() {\n}",
    "java": "class Main { public static void main(String[] words) {} }",
    "scala": "object P extends App {}",
    "csharp": "class P { static void Main() {} }",
    "go_test": "package main\n",
}


def ending(language: str, code: str) -> Trial:
    return Trial(Job(language, code), guard=Guard(GuardKind.ending))


def ran(stdout: bytes | Output, exit_code: int = 0) -> JobResult:
    printed = stdout if isinstance(stdout, Output) else Output(stdout)
    return JobResult(None, Outcome(Ending.exited, exit_code, stdout=printed))


def prompt_of(prepared: PreparedRun) -> str:
    assert prepared.job.reply is not None
    return prepared.job.reply.prompt.decode().strip()


@pytest.mark.parametrize("language", sorted(set(EXIT_PROOFS) - {"rust_test", "verilog"}))
def test_neither_the_token_nor_the_prompt_is_in_the_program_or_its_input(language: str) -> None:
    prepared = prepare(ending(language, PROGRAMS.get(language, "")), NONCE)
    given = prepared.job.code + "".join(file.content.decode() for file in prepared.job.files)
    prompt = prompt_of(prepared)
    assert prepared.evidence == "end mark" and prepared.stdin is None and prepared.job.stdin is None
    assert TOKEN not in given and prompt not in given
    assert prompt[:16] in given and prompt[16:] in given
    assert prepared.job.reply is not None and prepared.job.reply.text == f"{TOKEN}\n".encode()


def test_a_sealed_program_is_the_same_text_in_each_trial() -> None:
    trial = ending("cpp", PROGRAMS["cpp"])
    first, second = prepare(trial, "one"), prepare(trial, "two")
    assert first.job.code == second.job.code and prompt_of(first) == prompt_of(second)
    assert first.job.reply != second.job.reply


def test_programs_have_different_prompts() -> None:
    assert prompt_of(prepare(ending("lua", "a = 1"), NONCE)) != prompt_of(prepare(ending("lua", "a = 2"), NONCE))


def test_a_program_that_reads_for_itself_is_left_its_input() -> None:
    trial = Trial(Job("cpp", "int main() {}"), cases=(Case(b"5"),), guard=Guard(GuardKind.ending))
    prepared = prepare(trial, NONCE)
    assert (prepared.stdin, prepared.evidence, prepared.job.reply) == (b"5", "exit code", None)


@pytest.mark.parametrize(
    ("printed", "finished"),
    [
        ("one\n{prompt}\n{token}\n", True),
        ("one\n\n{prompt}\n{token}\nlast words", True),
        ("\n{prompt}\n", False),
        ("\n{token}\n", False),
        ("\n{prompt}\nsomething\n{token}\n", False),
        ("\n{prompt}\n\n{prompt}\n{token}\n", False),
        ("\n{prompt}\n{token}\n\n{prompt}\n", False),
    ],
)
def test_the_token_follows_the_only_prompt(printed: str, finished: bool) -> None:
    trial = ending("lua", "")
    prepared = prepare(trial, NONCE)
    output = printed.format(prompt=prompt_of(prepared), token=TOKEN).encode()
    found = inspect(trial, prepared, NONCE, ran(output))
    assert found.finished is finished
    assert found.tamper == (() if finished else ("early_exit",))
    if finished:
        assert found.stdout.text.replace("\n", "") in ("one", "onelast words")


def test_the_end_is_found_in_the_tail_of_an_output_that_was_cut() -> None:
    trial = ending("lua", "")
    prepared = prepare(trial, NONCE)
    end = f"\n{prompt_of(prepared)}\n{TOKEN}\n".encode()
    found = inspect(trial, prepared, NONCE, ran(Output(b"head", b"tail" + end, 1000)))
    assert found.finished and found.stdout == Output(b"head", b"tail", 1000)
    assert not inspect(trial, prepared, NONCE, ran(Output(b"head" + end, b"tail" + end, 1000))).finished


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("cpp", '// int main() {\nconst char *s = "int main() {";\nsigned main(int n, char **words) {\n}'),
        ("cpp", 'auto text = R"x(int main() {)x";\nauto main() -> int { return 0; }'),
        ("rust", 'const S: &str = "fn main() {";\nfn main() {\n}'),
        ("java", "class Main { static public void main(final String... words) {} }"),
        ("go", "// a comment\npackage main\n\nfunc main() {\n}"),
        ("csharp", "class P { static int Main() { return 0; } }"),
        ("csharp", "class P { static async Task<int> Main(string[] w) { return 0; } }"),
        ("scala", "object P { def main(args: Array[String]) = {} }"),
    ],
)
def test_main_is_found_where_it_is_and_not_in_comments_or_texts(language: str, code: str) -> None:
    prepared = prepare(ending(language, code), NONCE)
    assert prepared.evidence == "end mark"
    assert prepared.job.code.lower().count("sandbox") >= 2
    start = prepared.job.code.lower().index("sandbox")
    assert start > code.find("main() {") or language in ("go", "java", "scala", "csharp")


@pytest.mark.parametrize(
    "code",
    [
        "object P extends App {\n}",
        "object P extends App with Helper {\n}",
        "trait T\nobject P extends T with scala.App\n{ }",
        "object Q { def main(args: Array[String]) = {} }\nobject P extends App { }",
    ],
)
def test_an_app_of_scala_gets_a_main(code: str) -> None:
    prepared = prepare(ending("scala", code), NONCE)
    assert prepared.evidence == "end mark" and "super.main(w)" in prepared.job.code


@pytest.mark.parametrize("code", ["// \\\n/*\nint main() {\n}", 'const char *s = R"(";\n int main() { }'])
def test_a_main_that_only_seems_to_be_in_a_comment_is_sealed(code: str) -> None:
    assert prepare(ending("cpp", code), NONCE).evidence == "end mark"


def test_a_main_of_go_tests_runs_them_through_us() -> None:
    code = "package main\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\nfunc TestA(t *testing.T) { c.Run() }"
    sealed = prepare(ending("go_test", code), NONCE).job.code
    assert "os.Exit(sandboxRun_(m))" in sealed and "c.Run()" in sealed and sealed.count("func TestMain") == 1


def test_braces_in_texts_and_comments_close_nothing() -> None:
    code = 'int main() { f("}"); /* } */ if (1) { } }\n}'
    assert closing_brace(code, code.index("{") + 1) == code.rindex("}", 0, code.rindex("}"))
    assert closing_brace("{ {", 1) == -1


@pytest.mark.parametrize(
    ("language", "printed", "finished"),
    [
        ("rust_test", b"\ntest result: ok. 2 passed; 0 failed; 0 ignored", True),
        ("rust_test", b"\ntest result: ok. 0 passed; 0 failed; 0 ignored", False),
        ("rust_test", b"\ntest result: ok. 1 passed; 0 failed;\ntest result: FAILED. 0 passed; 1 failed;", False),
        ("junit", b"[         2 tests successful      ]\n[         0 tests failed          ]\n", True),
        ("junit", b"[         2 tests successful      ]\n[         1 tests failed          ]\n", False),
        ("jest", b"Tests:       1 skipped, 3 passed, 4 total\n", True),
        ("jest", b"Tests:       1 failed, 3 passed, 4 total\n", False),
        ("jest", b"Tests:       1 passed, 1 total\nTests:       1 failed, 1 total\n", False),
        ("jest", b"", False),
        ("D_ut", b"2 modules passed unittests\n", True),
        ("D_ut", b"1 modules passed unittests\n1/2 modules FAILED unittests\n", False),
        ("verilog", b"Mismatches: 0 in 5 samples\nMismatches: 3 in 9 samples\n", False),
    ],
)
def test_a_summary_must_tell_of_tests_and_stand_there_once(language: str, printed: bytes, finished: bool) -> None:
    trial = ending(language, "")
    prepared = prepare(trial, NONCE)
    end = f"\n{prompt_of(prepared)}\n{TOKEN}\n".encode() if prepared.job.reply else b""
    assert inspect(trial, prepared, NONCE, ran(printed + end)).finished is finished
    assert not end or not inspect(trial, prepared, NONCE, ran(printed)).finished


def test_a_design_that_ends_its_simulation_is_told_of() -> None:
    trial = Trial(Job("verilog", ""), guard=Guard(GuardKind.ending), extracted_code="// $finish\ninitial #5 $finish;")
    found = inspect(trial, prepare(trial, NONCE), NONCE, ran(b"Mismatches: 0 in 5 samples"))
    assert found.tamper == ("early_exit",)
