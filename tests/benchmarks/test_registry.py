"""Which datasets there are, in which order, and what a configuration file makes of them."""

from __future__ import annotations

import pytest

from sandbox_runtime.benchmarks.registry import benchmark_classes, datasets, samples_folder, table_of
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import load


def test_every_dataset_has_sample_rows_and_every_table_of_samples_a_dataset() -> None:
    shipped = {path.stem for path in samples_folder().glob("*.jsonl")}
    tables = [(dataset.table, *dataset.other_tables) for dataset in datasets()]
    assert all(shipped & set(names) for names in tables)
    assert shipped <= {name for names in tables for name in names}


@pytest.mark.parametrize("name", ["local", "ci"])
def test_the_configurations_that_come_with_the_package_change_no_order(name: str) -> None:
    registry = load(environ={"SANDBOX_CONFIG": name}).dataset.registry
    found = datasets((one.class_name, one.tables) for one in registry)
    own = [dataset for one in registry for dataset in one.tables]
    assert [dataset.id for dataset in found][: len(own)] == own
    assert {dataset.id for dataset in found} == {dataset.id for dataset in datasets()}


@pytest.mark.requirement("judge-13.04")
def test_a_table_that_is_misspelt_elsewhere_is_found_under_either_name() -> None:
    found = next(dataset for dataset in datasets() if dataset.id == "multiple_rs")
    assert {found.table, *found.other_tables} == {"code_eval_multiple_re", "code_eval_multiple_rs"}


@pytest.mark.requirement("judge-7.10")
def test_a_configuration_file_adds_datasets_and_moves_tables() -> None:
    found = {
        each.id: each
        for each in datasets([("MBPPDataset", {"mine": "table_of_mine", "mbpp": "elsewhere"})], "rows_${dataset_id}")
    }
    assert list(found)[:2] == ["mine", "mbpp"]
    assert (found["mine"].table, found["mine"].benchmark.name) == ("table_of_mine", "MBPPDataset")
    assert (found["mbpp"].table, found["mbpp"].other_tables) == ("elsewhere", ("rows_mbpp",))
    assert found["mhpp"].table == "rows_mhpp" and table_of("x") == "code_eval_x"
    with pytest.raises(InvalidRequest, match="the class 'Nothing'"):
        datasets([("Nothing", {})])


def test_classes_are_known_by_their_names_and_by_those_they_had() -> None:
    classes = benchmark_classes()
    assert classes["AutoEvalV5Dataset"] is classes["AutoEvalDataset"]
    assert all(benchmark.name == name for name, benchmark in classes.items() if "AutoEvalV" not in name)
