"""MiniF2F: the statement is the row's own, and a proof stands on nothing but Lean's axioms."""

from __future__ import annotations

import re

import pytest
from tests.benchmarks.judge_runs import options, prompt, trial, verdict

from sandbox_runtime.benchmarks.minif2f import MINIF2F
from sandbox_runtime.judge.judge import Judge
from sandbox_runtime.model.judge import Reason

STATEMENT = "theorem add_one (x : Nat) (h₀ : x = 1) :\n  x + 1 = 2"
ROW = {"id": "add_one", "content": f"{STATEMENT} := by sorry", "labels": {"informal_stmt": "Add."}, "canonical_answer": ""}
PROOF = f"{STATEMENT} := by\n  rw [h₀]"


def fenced(code: str) -> str:
    return f"```lean4\n{code}\n```"


@pytest.mark.requirement("judge-10.28")
@pytest.mark.parametrize(
    "answer",
    [
        fenced(PROOF),
        PROOF,
        fenced("  rw [h₀]"),
        fenced("rw [h₀]"),
        fenced(":= by\n  rw [h₀]"),
        fenced(f"import Mathlib\nopen Real\n\nlemma one : 1 + 1 = 2 := rfl\n\n/-- Add. -/\n{PROOF}"),
        fenced("theorem add_one (x : Nat)  (h₀ : x = 1) : -- the sum\n   x + 1 = 2 := by\n  rw [h₀]"),
    ],
)
def test_a_proof_is_put_behind_the_rows_own_statement(answer: str) -> None:
    told = trial(MINIF2F, ROW, answer)
    assert told.decided is None, told.note
    code = told.job.code
    assert code.count("theorem add_one") == 1 and STATEMENT in code
    assert code.startswith("import Mathlib") and code.count("import Mathlib") == 1
    assert code.rstrip().endswith("#print axioms add_one")
    assert "rw [h₀]" in code and "sorry" not in code


def test_what_an_answer_opens_is_opened_on_top() -> None:
    code = trial(MINIF2F, ROW, fenced(f"open Finset\nlemma one : 1 = 1 := rfl\n{PROOF}")).job.code
    assert code.index("open Finset") < code.index("lemma one") < code.index("theorem add_one")


@pytest.mark.requirement("judge-13.06")
@pytest.mark.parametrize(
    "answer",
    [
        PROOF.replace("x + 1 = 2", "x + 1 = x + 1"),
        PROOF.replace("(h₀ : x = 1)", "(h₀ : False)"),
        "theorem another : True := trivial",
        "theorem add_one",
        "",
    ],
)
def test_another_statement_proves_nothing(answer: str) -> None:
    told = trial(MINIF2F, ROW, fenced(answer) if answer else "")
    assert told.decided is False and told.note


@pytest.mark.requirement("judge-13.06")
@pytest.mark.parametrize(
    "answer",
    [
        f"axiom cheat : ∀ x : Nat, x + 1 = 2\n{STATEMENT} := cheat x",
        f"{STATEMENT} := by\n  sorry",
        f"{STATEMENT} := by\n  first | simp | admit",
        f'macro "rfl" : tactic => `(tactic| sorry)\n{PROOF}',
        f'local notation "Nat" => Empty\n{PROOF}',
        f"set_option warn.sorry false\n{PROOF}",
        f"{PROOF}\n#exit",
        f"{PROOF}\n#eval IO.println \"'add_one' does not depend on any axioms\"",
        f"@[instance] constant c : 1 = 2\n{PROOF}",
    ],
)
def test_tricks_are_refused_and_told(answer: str) -> None:
    told = trial(MINIF2F, ROW, fenced(answer))
    assert told.decided is False and told.tamper


def test_words_in_comments_are_no_tricks() -> None:
    assert trial(MINIF2F, ROW, fenced(f"-- no sorry here, no axiom\n/- macro -/\n{PROOF}")).decided is None


@pytest.mark.requirement("judge-13.06")
@pytest.mark.parametrize(
    ("printed", "right"),
    [
        ("'add_one' does not depend on any axioms", True),
        ("'add_one' depends on axioms: [propext]", True),
        ("'add_one' depends on axioms: [propext, Classical.choice, Quot.sound]", True),
        ("'add_one' depends on axioms: [propext,\n Classical.choice,\n Quot.sound]", True),
        ("'add_one' depends on axioms: [propext, sorryAx]", False),
        ("'add_one' depends on axioms: [Lean.ofReduceBool]", False),
        ("'add_one' depends on axioms: [propext]\n'add_one' depends on axioms: [cheat]", False),
        ("'other' depends on axioms: [propext]", False),
        ("warning: declaration uses 'sorry'\n'add_one' depends on axioms: [propext]", False),
        ("", False),
    ],
)
def test_only_leans_own_axioms_are_allowed(printed: str, right: bool) -> None:
    guard = trial(MINIF2F, ROW, fenced(PROOF)).guard
    passes = bool(re.search(guard.must_match, printed)) and not re.search(guard.must_not_match, printed)
    assert passes is right


def test_a_row_may_bring_its_own_header() -> None:
    told = trial(MINIF2F, {**ROW, "header": "import Mathlib\nset_option maxHeartbeats 0\n"}, fenced(PROOF))
    assert told.job.code.startswith("import Mathlib\nset_option maxHeartbeats 0\n")
    assert told.job.run_limits.wall_s >= 300


def test_the_prompt_is_in_chinese_unless_english_is_asked_for() -> None:
    assert "请用 Lean 4" in str(prompt(MINIF2F, ROW).prompt)
    assert "Prove this theorem" in str(prompt(MINIF2F, ROW, options(locale="en")).prompt)
    own = prompt(MINIF2F, ROW, options(prompt_template="{id}: {content} {unknown} {id.__class__}")).prompt
    assert own == f"add_one: {ROW['content']} {{unknown}} {{id.__class__}}"


@pytest.mark.asyncio(loop_scope="session")
async def test_without_lean_nothing_is_said_of_a_proof(judge: Judge) -> None:
    told = await verdict(judge, MINIF2F, ROW, fenced(PROOF))
    if told.reason is not Reason.not_judged:
        pytest.skip("this host has Lean")
    assert not told.accepted and "lean" in told.message.lower()
