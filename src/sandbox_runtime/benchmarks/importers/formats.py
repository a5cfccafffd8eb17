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
_OTHER_NAMES = {"EvoEval": "evoeval", "multiple_re": "multiple_rs"}


@dataclass(frozen=True, slots=True)
class Table:
    """dataset: the id that these rows are usually judged under."""

    dataset: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Form:
    """columns: those that a record of this form has; lacks: those it never has, where another form has them as well. alone: it
    has no others. besides: the files complete those of another form and are nothing by themselves; the reader is given both."""

    name: str
    columns: frozenset[str]
    read: Callable[[Sequence[PublishedFile], Sequence[PublishedFile]], Rows]
    dataset: Callable[[PublishedFile], str]
    lacks: frozenset[str] = frozenset()
    alone: bool = False
    besides: str = ""
    refused: str = ""

    def fits(self, record: Record) -> bool:
        if self.alone:
            return self.columns >= record.keys()
        return self.columns <= record.keys() and not self.lacks & record.keys()


def read_published(files: Sequence[PublishedFile], dataset: str = "") -> Table:
    """The rows of one dataset. dataset: the id they are wanted for; it chooses among splits that lie in one file, and stands in
    for the usual one."""
    if not files:
        raise InvalidRequest("there is no file to read")
    found = [(form_of(file), file) for file in files]
    main = _one_form([form for form, _ in found if not form.besides], found)
    problems = [file for form, file in found if form is main]
    besides = [file for form, file in found if form.besides == main.name]
    name = dataset or main.dataset(problems[0])
    rows = tuple(row for row in main.read(problems, besides) if _wanted(row, name))
    if not rows:
        raise InvalidRequest(f"none of the records is for {name}")
    return Table(name, rows)


def form_of(file: PublishedFile) -> _Form:
    first = file.records[0]
    for form in FORMS:
        if form.fits(first):
            if form.refused:
                raise InvalidRequest(f"{file.name}: {form.refused}")
            return form
    raise InvalidRequest(
        f"{file.name} is in no form that is known here: its records have {', '.join(sorted(map(str, first)))}; "
        "make them rows as the dataset's table has them, with an id each"
    )


def _one_form(mains: list[_Form], found: list[tuple[_Form, PublishedFile]]) -> _Form:
    if not mains:
        name, file = found[0][0].besides, found[0][1].name
        raise InvalidRequest(f"{file} completes problems of the form {name}; name their file as well")
    if len(set(map(id, mains))) > 1:
        names = ", ".join(dict.fromkeys(form.name for form in mains))
        raise InvalidRequest(f"these files are of several datasets ({names}); add them one after another")
    strange = [file.name for form, file in found if form.besides and form.besides != mains[0].name]
    if strange:
        raise InvalidRequest(f"{', '.join(strange)} does not belong to {mains[0].name}")
    return mains[0]


def _wanted(row: Row, dataset: str) -> bool:
    """Where a row says which split it is of and the dataset is named after a split, only those of it."""
    split = row.get("split")
    named = dataset.rpartition("_")[2]
    return split not in ("test", "valid") or named not in ("test", "valid") or split == named


def _as_they_are(problems: Sequence[PublishedFile], besides: Sequence[PublishedFile]) -> Rows:
    return [record for file in problems for record in file.records]


def _columns(written: str) -> frozenset[str]:
    return frozenset(written.split())


def _named(dataset: str) -> Callable[[PublishedFile], str]:
    return lambda file: dataset


def _table(file: PublishedFile) -> str:
    """A table is called after its dataset, but for a few."""
    name = file.stem.removeprefix("code_eval_").removesuffix("_sampled")
    return "code_contests" if name.startswith("code_contests") else _OTHER_NAMES.get(name, name)


FORMS: tuple[_Form, ...] = (
    _Form("aider-polyglot", _columns("language exercise files"), polyglot.read, _named("aider_polyglot")),
    _Form("verilog-eval-v2", _columns("task_id prompt_txt ref_sv test_sv"), verilog.read_v2, verilog.dataset_v2),
    _Form(
        "verilog-eval-v1",
        _columns("task_id prompt canonical_solution test"),
        verilog.read_v1,
        verilog.dataset_v1,
        lacks=_columns("entry_point declaration language code_preface"),
    ),
    _Form("verilog descriptions", _columns("task_id detail_description"), _as_they_are, _named(""), besides="verilog-eval-v1"),
    _Form("naturalcodebench", _columns("_id prompt problem testcases"), natural_code_bench.read, lambda file: file.stem),
    _Form(
        "naturalcodebench solutions",
        _columns("_id response"),
        _as_they_are,
        _named(""),
        _columns("prompt"),
        besides="naturalcodebench",
    ),
    _Form("minif2f", _columns("name split formal_statement"), minif2f.read, minif2f.dataset),
    _Form("minif2f files", _columns("path lean"), minif2f.read_files, minif2f.dataset_of_files),
    _Form("multipl-e", _columns("name language prompt tests stop_tokens"), _as_they_are, functions.dataset_of_multipl_e),
    _Form("humaneval-x", _columns("task_id prompt declaration canonical_solution test"), _as_they_are, functions.dataset_of_x),
    _Form("bigcodebench", _columns("task_id complete_prompt instruct_prompt test"), functions.read, functions.dataset_of_big),
    _Form("evalplus", _columns("task_id prompt base_input plus_input"), _as_they_are, functions.dataset_of_plus),
    _Form("mbpp plus", _columns("task_id code prompt test_list test"), mbpp.read_plus, _named("mbppplus")),
    _Form("mxeval", _columns("task_id prompt test language entry_point description"), mxeval.read, mxeval.dataset),
    _Form("humaneval", _columns("task_id prompt test entry_point"), _as_they_are, functions.dataset_of_humaneval),
    _Form("mbpp", _columns("task_id code test_list"), mbpp.read, mbpp.dataset),
    _Form("cruxeval-x", _columns("id code input_reasoning output_reasoning"), cruxeval_x.read, _named("cruxeval_x")),
    _Form("cruxeval", _columns("id code input output"), _as_they_are, _table),
    _Form(
        "cruxeval-x functions",
        _columns("id code"),
        _as_they_are,
        _named(""),
        alone=True,
        refused="these are the functions alone; the checks are in cruxeval_preprocessed/<language>.jsonl",
    ),
    _Form(
        "mhpp",
        _columns("id question difficulty_types function_name"),
        _as_they_are,
        _named(""),
        lacks=_columns("test"),
        refused="its authors publish no tests, so there is nothing to judge by; a table with id, content and test can be read",
    ),
    _Form(
        "completions",
        _columns("task_id completion"),
        _as_they_are,
        _named(""),
        refused="these are completions, not problems: judge them with `sandbox judge DATASET --completions FILE`",
    ),
    *(
        _Form(f"pal-math {kind}", _columns(columns), pal_math.read, _named("palmath"), lacks=_columns("id"))
        for kind, columns in pal_math.COLUMNS.items()
    ),
    _Form("table", _columns("id"), _as_they_are, _table),
    _Form("table", _columns("task_id prompt"), _as_they_are, _table),
    _Form("table", _columns("question_id question_content"), _as_they_are, _named("live_code_bench_v1")),
)
"""Looked at in this order: what tells more comes first."""
