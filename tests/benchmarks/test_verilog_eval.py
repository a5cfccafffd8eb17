"""VerilogEval: only a design without mismatches is right, and the bench's result is the bench's own."""

from __future__ import annotations

import pytest
from tests.benchmarks.boxed import found
from tests.benchmarks.judge_runs import options, prompt, trial

from sandbox_runtime.benchmarks.verilog_eval import VERILOG_EVAL, find_tricks
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Reason

pytestmark = pytest.mark.asyncio(loop_scope="session")

BENCH = """\
module reference_module(input a, input b, output out);
  assign out = a & b;
endmodule
module tb;
  reg a, b; wire good, got; int errors = 0, clocks = 0;
  reference_module good1(.a(a), .b(b), .out(good));
  top_module top_module1(.a(a), .b(b), .out(got));
  initial begin
    for (int i = 0; i < 4; i++) begin
      {a, b} = i; #5;
      clocks++;
      if (good !== got) errors++;
    end
    $finish;
  end
  final $display("Mismatches: %1d in %1d samples", errors, clocks);
endmodule
"""
PREFACE = "module top_module(\n\tinput a,\n\tinput b,\n\toutput out\n);\n"
ROW = {
    "id": 0,
    "task_id": "andgate",
    "code_preface": PREFACE,
    "description": "An and gate.",
    "test": BENCH,
    "canonical_solution": "\tassign out = a & b;\nendmodule\n",
    "labels": {"system_prompt": "Write Verilog.", "question_prompt": "Complete it.", "fewshot": "Question:\nOne\n\nAnswer:\nTwo"},
}
TICKS = "```"


def fenced(code: str) -> str:
    return f"{TICKS}verilog\n{code}\n{TICKS}"


async def test_the_prompt_has_the_description_and_the_modules_head() -> None:
    asked = str(prompt(VERILOG_EVAL, ROW).prompt)
    assert asked.startswith("Write Verilog.\nComplete it.\nAn and gate.\n```verilog\nmodule top_module(")
    assert str(prompt(VERILOG_EVAL, ROW, options(fewshot=True)).prompt).endswith("Answer:\n")


@pytest.mark.requirement("judge-10.27")
@pytest.mark.parametrize(
    "answer",
    [
        fenced("\tassign out = a & b;\nendmodule"),
        "\tassign out = a & b;\nendmodule",
        fenced("module top_module(input a, input b, output reg out);\n  always @* out = a & b;\nendmodule"),
        fenced(
            "module inner(input x, input y, output z);\n  assign z = x & y;\nendmodule\n"
            + PREFACE
            + "  inner i(a, b, out);\nendmodule"
        ),
        fenced("module top_module(input x, input y, output z);\n  assign out = a & b;\nendmodule"),
    ],
    ids=["body", "no fence", "ports of its own kind", "two modules", "head with other names"],
)
async def test_a_design_without_mismatches_is_accepted(judge: Judge, answer: str) -> None:
    told = await found(judge, VERILOG_EVAL, ROW, answer)
    assert told.accepted, told.message


@pytest.mark.requirement("judge-13.01")
async def test_a_design_with_mismatches_is_rejected_though_its_exit_code_is_0(judge: Judge) -> None:
    told = await found(judge, VERILOG_EVAL, ROW, fenced("\tassign out = a | b;\nendmodule"))
    assert (told.accepted, told.reason) == (False, Reason.wrong_answer)
    assert told.cases[0].run is not None and told.cases[0].run.ok
    assert "Mismatches: 2 in 4 samples" in told.cases[0].run.stdout.text


async def test_a_design_that_does_not_compile_is_told_so(judge: Judge) -> None:
    assert (await found(judge, VERILOG_EVAL, ROW, fenced("\tassign out = a &;\nendmodule"))).reason is Reason.compile_error


@pytest.mark.parametrize(
    "design",
    [
        "  initial $finish;\nendmodule",
        "  initial #7 $finish;\nendmodule",
        '  initial begin $display("Mismatches: 0 in 9 samples"); end\nendmodule',
        "  always @* tb.errors = 0;\nendmodule",
        "  reference_module mine(.a(a), .b(b), .out(out));\nendmodule",
        "  initial force tb.got = tb.good;\nendmodule",
    ],
)
async def test_a_design_that_grades_itself_is_refused_and_told(judge: Judge, design: str) -> None:
    told = await found(judge, VERILOG_EVAL, ROW, fenced(design))
    assert (told.accepted, told.reason) == (False, Reason.tampered)
    assert told.tamper


async def test_words_in_comments_are_no_tricks() -> None:
    assert find_tricks("// $finish is not used, nor tb.errors\n/* reference_module */ assign out = a & b;") == ()
    assert trial(VERILOG_EVAL, ROW, fenced("// see tb.x\nassign out = a & b;\nendmodule")).decided is None


async def test_a_row_without_a_head_takes_the_whole_module(judge: Judge) -> None:
    row = {**ROW, "code_preface": "", "canonical_solution": PREFACE + "  assign out = a & b;\nendmodule"}
    assert VERILOG_EVAL.reference is not None
    ((reference, under),) = VERILOG_EVAL.reference(row, options("verilogeval_v2_spec"))
    assert (await found(judge, VERILOG_EVAL, row, reference, under)).accepted
