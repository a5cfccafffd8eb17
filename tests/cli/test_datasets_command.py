"""`sandbox datasets`: problems are added as they are published, shown, and removed again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.cli.commands import sandbox
from typer.testing import CliRunner

from sandbox_runtime.cli.exit_codes import error_exit_code
from sandbox_runtime.cli.main import build
from sandbox_runtime.errors import SandboxError

PROBLEMS = [
    {"task_id": number, "text": f"Problem {number}.", "code": "def f():\n    return 1", "test_list": ["assert f() == 1"]}
    for number in (3, 1, 2)
]


def datasets(folder: Path, *words: str) -> tuple[int, str]:
    """In this process: starting another takes longer than all that the command does."""
    done = CliRunner().invoke(build(), ["datasets", *words, "--set", f"state_dir={folder}"])
    if isinstance(done.exception, SandboxError):
        return error_exit_code(done.exception), str(done.exception)
    return done.exit_code, done.output


def published(folder: Path, problems: list[dict[str, object]] = PROBLEMS) -> str:
    path = folder / "mbpp.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, problems)).encode()))
    return str(path)


def rows_of(folder: Path, dataset: str) -> tuple[int, str]:
    code, text = datasets(folder, "list", "--json")
    assert code == 0, text
    row = next(row for row in json.loads(text) if row["dataset"] == dataset)
    return row["rows"], row["source"]


def test_problems_are_added_shown_replaced_and_removed(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "mbpp") == (2, "samples")
    code, text = datasets(tmp_path, "add", "mbpp", published(tmp_path))
    assert code == 0 and "mbpp: 3 rows" in text
    assert rows_of(tmp_path, "mbpp") == (3, str(tmp_path / "datasets"))
    code, text = datasets(tmp_path, "show", "mbpp", "2")
    assert code == 0 and json.loads(text)["content"] == "Problem 2."
    code, text = datasets(tmp_path, "show", "mbpp", "2", "--prompt")
    assert code == 0 and "assert f() == 1" in text
    assert datasets(tmp_path, "add", "mbpp", published(tmp_path))[0] == 73
    code, text = datasets(tmp_path, "add", "mbpp", published(tmp_path, PROBLEMS[:1]), "--replace")
    assert code == 0 and "mbpp: 1 rows" in text
    assert datasets(tmp_path, "remove", "mbpp")[0] == 0
    assert rows_of(tmp_path, "mbpp") == (2, "samples")
    assert datasets(tmp_path, "remove", "mbpp")[0] == 66
    assert not list((tmp_path / "datasets").iterdir())


def test_a_dataset_of_ones_own_names_its_class(tmp_path: Path) -> None:
    rows = tmp_path / "mine.jsonl"
    rows.write_text(json.dumps({"id": 1, "content": "Add.", "test": []}) + "\n")
    code, text = datasets(tmp_path, "add", "mine", str(rows))
    assert code == 66 and "--type" in text
    code, text = datasets(tmp_path, "add", "mine", str(rows), "--type", "CommonOJDataset")
    assert code == 0 and "config.dataset_type" in text
    assert (tmp_path / "datasets" / "code_eval_mine.jsonl").is_file()
    assert datasets(tmp_path, "show", "mine", "1", "--type", "CommonOJDataset")[0] == 0
    assert datasets(tmp_path, "remove", "mine")[0] == 0


def test_what_cannot_be_used_is_refused_with_the_reason(tmp_path: Path) -> None:
    twice = published(tmp_path, [PROBLEMS[0], PROBLEMS[0]])
    code, text = datasets(tmp_path, "add", "mbpp", twice)
    assert code == 64 and "two rows have the id 3" in text
    other = tmp_path / "other.json"
    other.write_text('[{"id": 1, "question": "?"}]')
    code, text = datasets(tmp_path, "add", "mbpp", str(other))
    assert code == 64 and "mbpp cannot use the row" in text
    assert datasets(tmp_path, "add", "mbpp", str(tmp_path / "none.jsonl"))[0] == 64
    assert datasets(tmp_path, "show", "mbpp", "none")[0] == 66
    assert rows_of(tmp_path, "mbpp") == (2, "samples")


def test_a_table_prints_for_people(tmp_path: Path) -> None:
    done = sandbox("datasets", "list", "--set", f"state_dir={tmp_path}")
    assert done.returncode == 0 and b"verilogeval_machine" in done.stdout and b"samples" in done.stdout
