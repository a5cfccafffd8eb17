"""Rows of datasets: found by id, in the order of their ids, from whichever source has them first."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import pickle
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from sandbox_runtime.errors import InvalidRequest, NotFound, PlatformFault
from sandbox_runtime.judge.rows import (
    FolderRows,
    RowOptions,
    Rows,
    json_column,
    open_rows,
    provided_row,
    provided_rows,
    unpack_tests,
)
from sandbox_runtime.model.judge import Benchmark, Completion, Dataset, Options, Prompt, Row, Trial


def no_prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    return ()


def no_trial(row: Row, completion: Completion, options: Options) -> Trial:
    raise AssertionError("nothing is judged here")


BENCHMARK = Benchmark("Any", no_prompts, no_trial)
SET = Dataset("set", BENCHMARK, "code_eval_set", ("code_eval_old",))


def write(folder: Path, table: str, rows: list[dict[str, Any]], packed: bool = False) -> None:
    folder.mkdir(exist_ok=True)
    text = "\n".join(map(json.dumps, rows)) + "\n\n"
    if packed:
        (folder / f"{table}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (folder / f"{table}.jsonl").write_text(text)


async def ids(rows: Rows, dataset: Dataset = SET, offset: int = 0, limit: int = 1000) -> list[int | str]:
    return [row["id"] async for row in rows.page(dataset, offset, limit)]


@pytest.mark.requirement("judge-7.01", "judge-7.02")
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
async def test_rows_come_in_the_order_of_their_ids_numbers_before_texts(tmp_path: Path, packed: bool) -> None:
    write(tmp_path, "code_eval_set", [{"id": each} for each in (10, "b", 9, "a", 1)], packed)
    rows = Rows([FolderRows(tmp_path)])
    assert await ids(rows) == [1, 9, 10, "a", "b"]
    assert await ids(rows, offset=1, limit=2) == [9, 10]
    assert await ids(rows, offset=9) == []
    assert await rows.count(SET) == 5


async def test_a_row_is_found_by_its_id_or_another_of_its_names(tmp_path: Path) -> None:
    write(tmp_path, "code_eval_set", [{"id": 1, "task_id": "T/1"}, {"id": "2", "name": "T/1"}])
    rows = Rows([FolderRows(tmp_path)])
    assert (await rows.get(SET, 1))["id"] == 1
    assert (await rows.get(SET, "1"))["id"] == 1
    assert (await rows.get(SET, 2))["id"] == "2"
    assert (await rows.get(SET, "T/1"))["id"] == 1
    with pytest.raises(NotFound, match="no row 'x'"):
        await rows.get(SET, "x")


async def test_rows_without_an_id_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, "code_eval_set", [{"task_id": "b"}, {"task_id": "a"}])
    rows = Rows([FolderRows(tmp_path)])
    assert [row["task_id"] async for row in rows.page(SET)] == ["b", "a"]
    assert (await rows.get(SET, "a"))["task_id"] == "a"


async def test_the_first_source_that_has_the_table_counts(tmp_path: Path) -> None:
    write(tmp_path / "mine", "code_eval_set", [{"id": "mine"}])
    write(tmp_path / "shipped", "code_eval_set", [{"id": "shipped"}])
    rows = Rows([FolderRows(tmp_path / "mine", "mine"), FolderRows(tmp_path / "shipped", "shipped")])
    assert await ids(rows) == ["mine"] and await rows.source_of(SET) == "mine"
    (tmp_path / "mine" / "code_eval_set.jsonl").unlink()
    assert await ids(rows) == ["shipped"] and await rows.source_of(SET) == "shipped"


async def test_a_folder_goes_before_a_database_and_a_database_before_samples(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    with contextlib.closing(sqlite3.connect(tmp_path / "private" / "lake.db")) as lake:
        for table in ("code_eval_set", "code_eval_lake"):
            lake.execute(f"CREATE TABLE {table} (id TEXT PRIMARY KEY)")
            lake.execute(f"INSERT INTO {table} VALUES ('lake')")
        lake.commit()
    write(tmp_path / "mine", "code_eval_set", [{"id": "mine"}])
    for table in ("code_eval_set", "code_eval_lake", "code_eval_other"):
        write(tmp_path / "shipped", table, [{"id": "shipped"}])
    url = f"sqlite:///{tmp_path}/private/lake.db"
    options = RowOptions(folders=(str(tmp_path / "mine"),), datalake_url=url, samples=tmp_path / "shipped")
    async with open_rows(options) as rows:
        names = ("code_eval_set", "code_eval_lake", "code_eval_other")
        found = [await ids(rows, Dataset(name, BENCHMARK, name)) for name in names]
    assert found == [["mine"], ["lake"], ["shipped"]]


async def test_a_table_may_have_another_name(tmp_path: Path) -> None:
    write(tmp_path, "code_eval_old", [{"id": 1}])
    assert await ids(Rows([FolderRows(tmp_path)])) == [1]


async def test_a_dataset_without_rows_says_where_they_were_looked_for(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no table 'code_eval_set' in .*sandbox datasets add set FILE"):
        await ids(Rows([FolderRows(tmp_path / "none")]))
    assert await Rows([]).source_of(SET) is None


async def test_a_table_that_is_replaced_is_read_anew(tmp_path: Path) -> None:
    rows = Rows([FolderRows(tmp_path)])
    write(tmp_path, "code_eval_set", [{"id": 1}])
    page = rows.page(SET)
    assert (await anext(page))["id"] == 1
    (tmp_path / "new").write_text('{"id": 2}\n{"id": 3}\n')
    (tmp_path / "new").replace(tmp_path / "code_eval_set.jsonl")
    assert await ids(rows) == [2, 3]


@pytest.mark.parametrize("table", ["../secret", "a/b", "", ".hidden", "x" * 129, "a\0b"])
async def test_a_name_that_is_no_table_reaches_no_file(tmp_path: Path, table: str) -> None:
    with pytest.raises(InvalidRequest, match="invalid table name"):
        await ids(Rows([FolderRows(tmp_path)]), Dataset("x", BENCHMARK, table))


@pytest.mark.parametrize("text", ["{", "[1]", "\xff"])
async def test_a_line_that_is_no_row_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "code_eval_set.jsonl").write_text('{"id": 1}\n' + text + "\n", encoding="latin-1")
    with pytest.raises(PlatformFault, match=r"line 2 of .*code_eval_set\.jsonl"):
        await ids(Rows([FolderRows(tmp_path)]))


@pytest.mark.requirement("judge-7.07")
def test_json_in_a_text_is_decoded() -> None:
    assert json_column({"labels": '{"a": 1}'}, "labels") == json_column({"labels": {"a": 1}}, "labels") == {"a": 1}
    with pytest.raises(InvalidRequest, match="not JSON"):
        json_column({"labels": "{"}, "labels")
    with pytest.raises(InvalidRequest, match="no column 'labels'"):
        json_column({"label": 1}, "labels")


def test_rows_of_a_request_have_the_shape_that_is_asked_for() -> None:
    assert provided_rows([{"id": 1}]) == ({"id": 1},) and provided_row({"id": 1}) == {"id": 1}
    with pytest.raises(InvalidRequest, match="must be a list"):
        provided_rows({"id": 1})
    with pytest.raises(InvalidRequest, match="must be one row"):
        provided_row([{"id": 1}])


def packed(value: object, protocol: int = 4) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol))).decode()


@pytest.mark.parametrize("protocol", range(6))
def test_packed_tests_are_unpacked(protocol: int) -> None:
    value = {"inputs": ["1\n", "1\n", "é"], "outputs": [1, -2, 2**40, 1.5], "fn_name": None, "more": {"a": [True, False]}}
    if protocol > 1:
        assert unpack_tests(packed(value, protocol)) == value
    assert unpack_tests(packed(json.dumps(value), protocol)) == unpack_tests(json.dumps(value)) == value


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return print, ("unpickled",)


def laughs() -> list[Any]:
    found: list[Any] = ["ha"]
    for _ in range(40):
        found = [found, found]
    return found


@pytest.mark.requirement("judge-13.08")
@pytest.mark.parametrize(
    "text",
    [
        packed(Bomb()),
        packed(laughs()),
        packed("no JSON"),
        base64.b64encode(zlib.compress(b"\x80\x04r\xff\xff\xff\xff.")).decode(),
        base64.b64encode(zlib.compress(b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x0f.")).decode(),
        base64.b64encode(zlib.compress(b"(((((.")).decode(),
        base64.b64encode(zlib.compress(b"e.")).decode(),
        base64.b64encode(zlib.compress(b"x" * 99)[:-8]).decode(),
        "not base64!",
        "{",
    ],
)
def test_a_pickle_that_does_anything_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidRequest, match="tests"):
        unpack_tests(text)
    assert capsys.readouterr().out == ""
