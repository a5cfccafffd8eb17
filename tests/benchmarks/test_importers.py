"""Datasets as their authors publish them: recognised by their columns, made into rows that can be judged."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest

from sandbox_runtime.benchmarks.importers import PublishedFile, parse_file, read_published
from sandbox_runtime.benchmarks.mbpp import MBPP
from sandbox_runtime.benchmarks.mbxp import MBXP
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Completion, Options

FUNCTION = {
    "task_id": "HumanEval/0",
    "prompt": "def f():\n",
    "entry_point": "f",
    "canonical_solution": "    pass",
    "test": "def check(c): pass",
}
MXEVAL = {"task_id": "MBPP/1", "prompt": "def check(n):\n", "entry_point": "check", "description": "", "language": "python"}


def lines(*records: Mapping[str, Any]) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def one(record: Mapping[str, Any], name: str = "rows.jsonl", dataset: str = "") -> tuple[str, Mapping[str, Any]]:
    table = read_published([parse_file(name, lines(record))], dataset)
    return table.dataset, table.rows[0]


@pytest.mark.parametrize(
    "content",
    [
        lines(FUNCTION),
        json.dumps([FUNCTION]).encode(),
        json.dumps({"HumanEval/0": FUNCTION}).encode(),
        gzip.compress(lines(FUNCTION)),
        gzip.compress(lines(FUNCTION)[:20]) + gzip.compress(lines(FUNCTION)[20:]),
        b"\xef\xbb\xbf" + lines(FUNCTION),
    ],
)
def test_json_in_every_form_is_read(content: bytes) -> None:
    assert parse_file("HumanEval.jsonl", content).records == (FUNCTION,)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no records"),
        (b"[1, 2]", "JSON list of objects"),
        (b'{"a": 1}\n{"b"', "line 2"),
        (b"\x1f\x8b\x08\xffbroken and more", "cannot be unpacked"),
        (gzip.compress(lines(FUNCTION))[:-10], "cut off"),
        (b"PK\x03\x04broken", "cannot be unpacked"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_told_with_the_file(content: bytes, told: str) -> None:
    with pytest.raises(InvalidRequest, match=told) as caught:
        parse_file("some.jsonl", content)
    assert "some.jsonl" in str(caught.value)


@pytest.mark.parametrize(
    ("record", "name", "dataset"),
    [
        (FUNCTION, "HumanEval.jsonl.gz", "humaneval_python"),
        (FUNCTION, "HumanEvalPlus-OriginFmt.jsonl.gz", "humanevalplus"),
        ({**FUNCTION, "base_input": [], "plus_input": []}, "x.jsonl", "humanevalplus"),
        ({"task_id": "Mbpp/2", "prompt": "", "base_input": [], "plus_input": []}, "x.jsonl", "mbppplus"),
        (
            {"task_id": "CPP/0", "prompt": "", "declaration": "", "canonical_solution": "", "test": ""},
            "x.jsonl",
            "humaneval_x_cpp",
        ),
        (
            {"task_id": "JavaScript/0", "prompt": "", "declaration": "", "canonical_solution": "", "test": ""},
            "x",
            "humaneval_x_js",
        ),
        ({"name": "n", "language": "go_test.go", "prompt": "", "tests": "", "stop_tokens": []}, "x.jsonl", "multiple_go"),
        ({"task_id": "B/0", "complete_prompt": "", "instruct_prompt": "", "test": "", "_id": 1}, "x.json", "bigcodebench"),
        (
            {"task_id": "B/0", "complete_prompt": "", "instruct_prompt": "", "test": ""},
            "bigcodebench_hard.json",
            "bigcodebench_hard",
        ),
        ({"id": "sample_0", "code": "", "input": "", "output": ""}, "cruxeval.jsonl", "cruxeval"),
        ({"id": 1, "content": "", "test": []}, "code_contests_300_python.jsonl", "code_contests"),
        ({"id": 1, "content": "", "next_line": ""}, "code_eval_repobench_c_java_sampled.jsonl.gz", "repobench_c_java"),
        ({"id": 1, "content": ""}, "code_eval_EvoEval.jsonl", "evoeval"),
    ],
)
def test_the_dataset_is_known_by_its_columns_and_name(record: Mapping[str, Any], name: str, dataset: str) -> None:
    assert one(record, name)[0] == dataset


def test_a_name_that_is_given_stands_for_the_usual_one() -> None:
    assert one(FUNCTION, dataset="mine")[0] == "mine"


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"id": 1, "code": ""}, "functions alone"),
        ({"id": 1, "question": "", "difficulty_types": 1, "function_name": "f"}, "no tests"),
        ({"task_id": "MBPP/1", "completion": "", "language": "python"}, "completions, not problems"),
        ({"task_id": "x", "detail_description": ""}, "name their file as well"),
        ({"unheard": 1}, "no form that is known"),
    ],
)
def test_records_that_nothing_can_be_judged_by_are_refused(record: Mapping[str, Any], told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        one(record)


def test_files_of_two_datasets_are_not_mixed() -> None:
    mbpp = {"task_id": 1, "text": "", "code": "", "test_list": [], "test_setup_code": "", "challenge_test_list": []}
    with pytest.raises(InvalidRequest, match="several datasets"):
        read_published([parse_file("a", lines(FUNCTION)), parse_file("b", lines(mbpp))])


def test_a_row_of_mbpp_can_be_judged() -> None:
    record = {
        "task_id": 3,
        "prompt": "Double it.",
        "code": "def f(n): return 2 * n",
        "test_imports": ["import math"],
        "test_list": ["assert f(2) == 4"],
    }
    dataset, row = one(record)
    (reference,) = MBPP.reference(row, Options(dataset)) if MBPP.reference else ()
    trial = MBPP.trial(row, Completion(reference[0]), Options(dataset))
    assert (dataset, row["id"]) == ("mbpp_sanitized", 3)
    assert trial.guard.solution.startswith("import math\ndef f")
    assert "assert f(2) == 4" in trial.guard.tests


def test_a_function_called_check_does_not_clash_with_the_one_that_checks() -> None:
    dataset, row = one(
        {**MXEVAL, "test": "def check(candidate):\n    assert candidate(1)\n", "canonical_solution": "    return True"}
    )
    (reference,) = MBXP.reference(row, Options(dataset)) if MBXP.reference else ()
    trial = MBXP.trial(row, Completion(reference[0]), Options(dataset))
    assert trial.guard.solution.strip() == "def check(n):\n    return True"
    assert "def x_check(candidate)" in trial.guard.tests and trial.guard.tests.endswith("x_check(check)")


def test_a_method_goes_into_the_class_that_its_test_closes() -> None:
    head = "using System;\n\nnamespace S\n{\n    public class Program\n    {\n"
    prompt = f"{head}        /// doc\n        public static int F (int n)\n        {{"
    record = {
        **MXEVAL,
        "language": "csharp",
        "prompt": prompt,
        "test": "\n        public static void Main(string[] a) { }\n    }\n}\n",
    }
    dataset, row = one({**record, "canonical_solution": "\n            return n;\n        }"})
    (reference,) = MBXP.reference(row, Options(dataset)) if MBXP.reference else ()
    code = MBXP.trial(row, Completion(reference[0]), Options(dataset)).job.code
    assert code.count("public class Program") == 1 and code.count("namespace S") == 1
    assert code.count("{") == code.count("}")


def test_a_language_that_nothing_runs_is_told() -> None:
    with pytest.raises(InvalidRequest, match="klingon"):
        one({**MXEVAL, "language": "klingon", "test": ""})


def test_descriptions_and_problems_of_verilog_come_together() -> None:
    problem = {
        "task_id": "mux",
        "prompt": "module top_module();",
        "canonical_solution": "endmodule",
        "test": "module tb; endmodule",
    }
    told = {"task_id": "mux", "detail_description": "A multiplexer."}
    table = read_published([parse_file("VerilogEval_Machine.jsonl", lines(problem)), parse_file("d.jsonl", lines(told))])
    assert table.dataset == "verilogeval_machine"
    assert (table.rows[0]["id"], table.rows[0]["description"]) == (0, "A multiplexer.")


def test_the_reference_of_the_second_verilog_form_is_the_same_module_under_another_name() -> None:
    record = {
        "task_id": "Prob001",
        "prompt_txt": "Low.",
        "ref_sv": "module RefModule (output zero);\nendmodule",
        "test_sv": "module tb; endmodule",
    }
    dataset, row = one(record)
    assert dataset == "verilogeval_v2_spec"
    assert row["canonical_solution"].startswith("module TopModule") and "RefModule" in row["test"]


def test_answers_in_a_file_beside_are_those_of_the_problems() -> None:
    problem = {
        "_id": 131,
        "prompt": "```java",
        "problem": "p",
        "testcases": "class T {}",
        "setup_code": "import x;",
        "reference_solution": "old",
    }
    answer = {"_id": 131, "response": "```java\nclass A {}\n```"}
    table = read_published(
        [parse_file("ncb_java_en.jsonl", lines(problem)), parse_file("reference_ncb_java_en.jsonl", lines(answer))]
    )
    (row,) = table.rows
    assert (table.dataset, row["id"], row["canonical_solution"]) == ("ncb_java_en", 0, answer["response"])
    assert row["labels"]["programming_language"] == "java"
    assert row["test"]["code"] == "import x;\nclass T {}"


def test_a_python_problem_about_blocks_of_java_is_a_python_problem() -> None:
    prompt = "Write it between ```python and ```: a function that finds ```java blocks."
    _, row = one({"_id": 132, "prompt": prompt, "problem": "", "testcases": ""}, "ncb_python_en.jsonl")
    assert row["labels"]["programming_language"] == "python"


THEOREM = "theorem t1 (x : Nat) (h : x = 1 := by simp) :\n  x = 1 := by"


def test_a_theorem_is_read_without_its_proof_and_by_its_split() -> None:
    record = {"name": "t1", "split": "valid", "formal_statement": THEOREM + "\n", "header": "import Mathlib\n"}
    other = {**record, "name": "t2", "split": "test"}
    table = read_published([parse_file("minif2f.jsonl", lines(record, other))], "minif2f_lean4_valid")
    assert [row["id"] for row in table.rows] == ["t1"]
    assert table.rows[0]["content"].endswith("x = 1 := by sorry")


def test_an_archive_of_proofs_becomes_statements_with_their_references() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("test/t1.lean", f"import Mathlib\nopen Nat\n/-- one -/\n{THEOREM}\n  exact h\n")
        archive.writestr("test/All.lean", "import t1\n")
    table = read_published([parse_file("proofs.zip", packed.getvalue())])
    (row,) = table.rows
    assert (row["id"], row["split"], row["header"]) == ("t1", "test", "import Mathlib\nopen Nat\n")
    assert row["content"] == f"{THEOREM} sorry"
    assert "exact h" in row["canonical_answer"]


def test_the_whole_check_is_put_together_from_its_two_halves() -> None:
    record = {
        "id": 7,
        "code": "",
        "input_reasoning": "assert f(????) == [1, 2]\n",
        "output_reasoning": "assert f([2, 1]) == ????\n",
    }
    dataset, row = one(record, "rkt.jsonl")
    assert (dataset, row["id"], row["gt"]) == ("cruxeval_x", "racket_7", "assert f([2, 1]) == [1, 2]\n")


def test_a_check_in_a_file_that_names_no_language_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="called after its language"):
        one({"id": 7, "code": "", "input_reasoning": "", "output_reasoning": ""}, "what.jsonl")


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        ({"input": "q", "target": 18.0}, "18"),
        ({"input": "q", "target": 0.5}, "0.5"),
        ({"input": "q", "target": "(a)"}, "(a)"),
        ({"body": "b", "question": "q", "answer": "9 (apples)", "idx": 0}, "9"),
        ({"question": "q", "answer": "so\n#### 1,200", "idx": 0}, "1200"),
        ({"problem": "q", "level": "1", "solution": r"thus \boxed{1} or $\boxed{\frac{1}{2}}$."}, r"\frac{1}{2}"),
        ({"Body": "b", "Question": "q", "Answer": 145.0}, "145"),
    ],
)
def test_the_answer_of_a_word_problem_is_found(record: Mapping[str, Any], answer: str) -> None:
    dataset, row = one(record, "gsm/test.json")
    assert (dataset, row["id"]) == ("palmath", "gsm/0")
    assert json.loads(base64.b64decode(row["test"]["asset"]["answer.json"])) == {"gt": answer}


def test_the_right_choice_is_the_answer() -> None:
    task = {"name": "dates", "task_prefix": "A table. ", "examples": [{"input": "q", "target_scores": {"a": 0, "b": 1}}]}
    table = read_published([parse_file("dates.json", json.dumps(task).encode())])
    assert table.rows[0]["labels"]["question"] == "A table. q"
    assert json.loads(base64.b64decode(table.rows[0]["test"]["asset"]["answer.json"])) == {"gt": "b"}


def test_an_exercise_is_taken_apart_as_its_configuration_says() -> None:
    config = {
        "files": {"solution": ["a.cpp", "a.h"], "test": ["a_test.cpp"], "example": [".meta/example.cpp", ".meta/example.h"]}
    }
    files = {
        ".meta/config.json": json.dumps(config),
        ".docs/instructions.md": "Do it.",
        "a.cpp": "stub",
        "a.h": "head",
        "a_test.cpp": "tests",
        ".meta/example.cpp": "right",
        ".meta/example.h": "right head",
        "CMakeLists.txt": "",
        "test/tests-main.cpp": "",
        "data/words.txt": "w",
    }
    dataset, row = one({"language": "cpp", "exercise": "a", "files": files})
    assert (dataset, row["id"], row["content"]) == ("aider_polyglot", "cpp/a", "Do it.")
    assert row["reference"] == {"a.cpp": "right", "a.h": "right head"}
    assert row["support"] == {"data/words.txt": "w"}
    assert row["tests"] == {"a_test.cpp": "tests"}


def test_nothing_to_read_is_told() -> None:
    with pytest.raises(InvalidRequest, match="no file"):
        read_published([])


def test_a_file_called_after_its_split_is_known_by_its_folder() -> None:
    assert PublishedFile("data/asdiv/test.json.gz", ()).stem == "asdiv"
    assert PublishedFile("data/asdiv.jsonl", ()).stem == "asdiv"
