"""`sandbox judge`: verdicts without a server and with one, scores, the report, and reference solutions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import sandbox

from sandbox_runtime.cli.judge import judge
from sandbox_runtime.errors import InvalidRequest

ROWS = [
    {
        "id": 1,
        "content": "Write add.",
        "labels": {"difficulty": "easy"},
        "test_list": ["assert add(2, 3) == 5"],
        "canonical_solution": "def add(a, b):\n    return a + b\n",
    },
    {
        "id": 2,
        "content": "Write twice.",
        "labels": {"difficulty": "hard"},
        "test_list": ["assert twice(4) == 8"],
        "canonical_solution": "def twice(a):\n    return a * 2\n",
    },
]
ADD, WRONG = "```python\ndef add(a, b):\n    return a + b\n```", "```python\ndef add(a, b):\n    return '<b>&'\n```"
TWICE = "```python\ndef twice(a):\n    return a * 2\n```"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "code_eval_mbpp.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return folder


def answers(folder: Path, *completions: tuple[Any, str], key: str = "id", packed: bool = False) -> Path:
    text = "".join(json.dumps({key: one, "completion": text}) + "\n" for one, text in completions)
    path = folder / ("answers.jsonl.gz" if packed else "answers.jsonl")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def judged(rows: Path, state: Path, *words: str) -> tuple[int, str, str]:
    done = sandbox("judge", "mbpp", *words, "--set", f"datasets_dir={rows}", "--set", f"state_dir={state}")
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_completions_are_judged_scored_and_kept(rows: Path, tmp_path: Path) -> None:
    path = answers(tmp_path, (1, ADD), (1, WRONG), (2, TWICE), (2, TWICE), packed=True)
    out, page = tmp_path / "results.jsonl", tmp_path / "report.html"
    code, told, _ = judged(rows, tmp_path, "-c", str(path), "--pass-at", "1,2,9", "-o", str(out), "--report", str(page), "--json")
    summary = json.loads(told)
    assert code == 0 and summary["total"]["pass_at"] == {"1": 0.75, "2": 1.0}
    assert summary["groups"]["difficulty"]["hard"]["pass_at"]["1"] == 1.0
    assert [one["index"] for one in sorted(map(json.loads, out.read_text().splitlines()), key=lambda one: one["index"])] == [
        0,
        1,
        2,
        3,
    ]
    shown = page.read_text()
    assert "75.00%" in shown and "<script" not in shown and "<b>&" not in shown


def test_only_the_first_samples_of_each_problem_count(rows: Path, tmp_path: Path) -> None:
    path = answers(tmp_path, (1, ADD), (1, WRONG), (2, TWICE), key="task_id")
    code, told, problems = judged(rows, tmp_path, "-c", str(path), "--samples", "1", "--json")
    assert code == 0 and json.loads(told)["total"] == {"problems": 2, "samples": 2, "accepted": 2, "pass_at": {"1": 1.0}}
    code, _, problems = judged(rows, tmp_path, "-c", str(path), "--samples", "2", "--json")
    assert "1 of 2 problems have fewer than 2 completions" in problems


def test_reference_solutions_are_accepted_or_named(rows: Path, tmp_path: Path) -> None:
    code, told, _ = judged(rows, tmp_path, "--self-check")
    assert code == 0 and "2 accepted" in told
    broken = tmp_path / "broken"
    broken.mkdir()
    wrong = {**ROWS[0], "canonical_solution": "def add(a, b):\n    return 0\n"}
    (broken / "code_eval_mbpp.jsonl").write_text(json.dumps(wrong) + "\n" + json.dumps(ROWS[1]) + "\n")
    code, told, _ = judged(broken, tmp_path, "--self-check")
    assert code == 1 and "1: wrong_answer" in told


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, "give exactly one of"),
        ({"self_check": True, "completions": "x"}, "give exactly one of"),
        ({"completions": "/nowhere.jsonl"}, "cannot read"),
        ({"self_check": True, "pass_at": "0"}, "--pass-at"),
        ({"self_check": True, "options": "["}, "not valid JSON"),
        ({"self_check": True, "url": "http://127.0.0.1:1"}, "cannot be combined"),
    ],
)
def test_what_is_asked_wrongly_is_told(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        judge("mbpp", **asked)


def test_an_id_nobody_knows_is_not_judged_and_no_wrong_answer(rows: Path, tmp_path: Path) -> None:
    code, told, problems = judged(rows, tmp_path, "-c", str(answers(tmp_path, (77, ADD), (1, ADD))), "--json")
    summary = json.loads(told)
    assert (code, summary["not_judged"], summary["total"]["pass_at"]) == (1, 1, {"1": 1.0})
    assert "could not be judged" in problems
