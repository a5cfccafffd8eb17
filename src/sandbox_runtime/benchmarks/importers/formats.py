"""Which form a file is in, and which reader makes rows of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sandbox_runtime.benchmarks.importers import (
    cruxeval_x,
    functions,
    mbpp,
    minif2f,
    mxeval,
    natural_code_bench,
    pal_math,
    polyglot,
    verilog,
)
from sandbox_runtime.benchmarks.importers.source_text import PublishedFile, Record
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row

Rows = Iterable[Row]
_DATASET_OF_TABLE_NAME = {"EvoEval": "evoeval", "multiple_re": "multiple_rs"}


@dataclass(frozen=True, slots=True)
class Table:
    """dataset: the id that these rows are usually judged under."""

    dataset: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Format:
    """columns: those that a record of this form has; lacks: those it never has, where another form has them as well. alone: it
    has no others. besides: the files complete those of another form and are nothing by themselves; the reader is given both."""

    name: str
    columns: frozenset[str]
    read: Callable[[Sequence[PublishedFile], Sequence[PublishedFile]], Rows]
    dataset: Callable[[PublishedFile], str]
    absent_columns: frozenset[str] = frozenset()
    only_these: bool = False
    supplement_to: str = ""
    refusal: str = ""

    def fits(self, record: Record) -> bool:
        if self.only_these:
            return self.columns >= record.keys()
        return self.columns <= record.keys() and not self.absent_columns & record.keys()


def read_published(files: Sequence[PublishedFile], dataset: str = "") -> Table:
    """The rows of one dataset. dataset: the id they are wanted for; it chooses among splits that lie in one file, and stands in
    for the usual one."""
    if not files:
        raise InvalidRequest("there is no file to read")
    found = [(find_format(file), file) for file in files]
    main = _single_format([form for form, _ in found if not form.supplement_to], found)
    problems = [file for form, file in found if form is main]
    besides = [file for form, file in found if form.supplement_to == main.name]
    name = dataset or main.dataset(problems[0])
    rows = tuple(row for row in main.read(problems, besides) if _in_split(row, name))
    if not rows:
        raise InvalidRequest(f"none of the records is for {name}")
    return Table(name, rows)


def find_format(file: PublishedFile) -> _Format:
    first = file.records[0]
    for form in FORMATS:
        if form.fits(first):
            if form.refusal:
                raise InvalidRequest(f"{file.name}: {form.refusal}")
            return form
    raise InvalidRequest(
        f"{file.name} is in no form that is known here: its records have {', '.join(sorted(map(str, first)))}; "
        "make them rows as the dataset's table has them, with an id each"
    )


def _single_format(mains: list[_Format], found: list[tuple[_Format, PublishedFile]]) -> _Format:
    if not mains:
        name, file = found[0][0].supplement_to, found[0][1].name
        raise InvalidRequest(f"{file} completes problems of the form {name}; name their file as well")
    if len(set(map(id, mains))) > 1:
        names = ", ".join(dict.fromkeys(form.name for form in mains))
        raise InvalidRequest(f"these files are of several datasets ({names}); add them one after another")
    strange = [file.name for form, file in found if form.supplement_to and form.supplement_to != mains[0].name]
    if strange:
        raise InvalidRequest(f"{', '.join(strange)} does not belong to {mains[0].name}")
    return mains[0]


def _in_split(row: Row, dataset: str) -> bool:
    """Where a row says which split it is of and the dataset is named after a split, only those of it."""
    split = row.get("split")
    named = dataset.rpartition("_")[2]
    return split not in ("test", "valid") or named not in ("test", "valid") or split == named


def _read_unchanged(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Rows:
    return [record for file in problems for record in file.records]


def _columns(written: str) -> frozenset[str]:
    return frozenset(written.split())


def _always(dataset: str) -> Callable[[PublishedFile], str]:
    return lambda file: dataset


def _dataset_of_table(file: PublishedFile) -> str:
    """A table is called after its dataset, but for a few."""
    name = file.stem.removeprefix("code_eval_").removesuffix("_sampled")
    return "code_contests" if name.startswith("code_contests") else _DATASET_OF_TABLE_NAME.get(name, name)


FORMATS: tuple[_Format, ...] = (
    _Format("aider-polyglot", _columns("language exercise files"), polyglot.read, _always("aider_polyglot")),
    _Format("verilog-eval-v2", _columns("task_id prompt_txt ref_sv test_sv"), verilog.read_v2, verilog.dataset_v2),
    _Format(
        "verilog-eval-v1",
        _columns("task_id prompt canonical_solution test"),
        verilog.read_v1,
        verilog.dataset_v1,
        absent_columns=_columns("entry_point declaration language code_preface"),
    ),
    _Format(
        "verilog descriptions",
        _columns("task_id detail_description"),
        _read_unchanged,
        _always(""),
        supplement_to="verilog-eval-v1",
    ),
    _Format("naturalcodebench", _columns("_id prompt problem testcases"), natural_code_bench.read, lambda file: file.stem),
    _Format(
        "naturalcodebench solutions",
        _columns("_id response"),
        _read_unchanged,
        _always(""),
        _columns("prompt"),
        supplement_to="naturalcodebench",
    ),
    _Format("minif2f", _columns("name split formal_statement"), minif2f.read, minif2f.dataset),
    _Format("minif2f files", _columns("path lean"), minif2f.read_files, minif2f.dataset_of_files),
    _Format("multipl-e", _columns("name language prompt tests stop_tokens"), _read_unchanged, functions.dataset_of_multipl_e),
    _Format(
        "humaneval-x", _columns("task_id prompt declaration canonical_solution test"), _read_unchanged, functions.dataset_of_x
    ),
    _Format("bigcodebench", _columns("task_id complete_prompt instruct_prompt test"), functions.read, functions.dataset_of_big),
    _Format("evalplus", _columns("task_id prompt base_input plus_input"), _read_unchanged, functions.dataset_of_plus),
    _Format("mbpp plus", _columns("task_id code prompt test_list test"), mbpp.read_plus, _always("mbppplus")),
    _Format("mxeval", _columns("task_id prompt test language entry_point description"), mxeval.read, mxeval.dataset),
    _Format("humaneval", _columns("task_id prompt test entry_point"), _read_unchanged, functions.dataset_of_humaneval),
    _Format("mbpp", _columns("task_id code test_list"), mbpp.read, mbpp.dataset),
    _Format("cruxeval-x", _columns("id code input_reasoning output_reasoning"), cruxeval_x.read, _always("cruxeval_x")),
    _Format("cruxeval", _columns("id code input output"), _read_unchanged, _dataset_of_table),
    _Format(
        "cruxeval-x functions",
        _columns("id code"),
        _read_unchanged,
        _always(""),
        only_these=True,
        refusal="these are the functions alone; the checks are in cruxeval_preprocessed/<language>.jsonl",
    ),
    _Format(
        "mhpp",
        _columns("id question difficulty_types function_name"),
        _read_unchanged,
        _always(""),
        absent_columns=_columns("test"),
        refusal="its authors publish no tests, so there is nothing to judge by; a table with id, content and test can be read",
    ),
    _Format(
        "completions",
        _columns("task_id completion"),
        _read_unchanged,
        _always(""),
        refusal="these are completions, not problems: judge them with `sandbox judge DATASET --completions FILE`",
    ),
    *(
        _Format(f"pal-math {kind}", _columns(columns), pal_math.read, _always("palmath"), absent_columns=_columns("id"))
        for kind, columns in pal_math.COLUMNS.items()
    ),
    _Format("table", _columns("id"), _read_unchanged, _dataset_of_table),
    _Format("table", _columns("task_id prompt"), _read_unchanged, _dataset_of_table),
    _Format("table", _columns("question_id question_content"), _read_unchanged, _always("live_code_bench_v1")),
)
"""Looked at in this order: what tells more comes first."""
