"""What the server makes of a driver's events, whoever sent them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox_runtime.engine.notebook.buffers import HeadTailBuffer, LineSplitter
from sandbox_runtime.engine.notebook.transcript import Transcript
from sandbox_runtime.model.notebook import CellEnding


def heard(*events: Any, cells: int = 1, keep_bytes: int = 10_000) -> Transcript:
    transcript = Transcript(cells, None, keep_bytes)
    for event in events:
        transcript.add_line(event if isinstance(event, bytes) else json.dumps(event).encode())
    return transcript


def done(how: str = "ok", cell: int = 0) -> dict[str, Any]:
    return {"event": "done", "cell": cell, "how": how}


@pytest.mark.parametrize(
    "nonsense",
    [
        b"",
        b"\xff\xfe",
        b"not json",
        b"null",
        b"[1, 2]",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 5000,
        {},
        {"event": "done"},
        {"event": "done", "cell": "0", "how": "ok"},
        {"event": "done", "cell": 1, "how": "ok"},
        {"event": "done", "cell": -1, "how": "ok"},
        {"event": "done", "cell": 0.0, "how": "ok"},
        {"event": "done", "cell": 0, "how": "splendid"},
        {"event": "done", "cell": 0, "how": ["ok"]},
        {"event": ["done"], "cell": 0, "how": "ok"},
        {"event": "stream", "cell": 0, "name": "stdin", "text": "x"},
        {"event": "stream", "cell": 0, "name": "stdout", "text": 5},
        {"event": "stream", "cell": 0, "name": {}, "text": "x"},
        {"event": "display", "cell": 0, "data": "x"},
        {"event": "error", "cell": 0, "ename": 1, "evalue": "", "traceback": []},
        {"event": "error", "cell": 0, "ename": "E", "evalue": "", "traceback": "x"},
        {"event": "ready"},
    ],
)
def test_nonsense_changes_nothing(nonsense: Any) -> None:
    transcript = heard(nonsense)
    assert not transcript.complete and transcript.results() == ()
    transcript.add_line(json.dumps(done()).encode())
    (cell,) = transcript.results()
    assert (bytes(cell.stdout), bytes(cell.stderr), cell.displays, cell.errors) == (b"", b"", (), ())


def test_a_cell_ends_once() -> None:
    (cell,) = heard(done("error"), done("ok")).results()
    assert cell.ending is CellEnding.error


def test_what_threads_say_after_their_cell_belongs_to_it() -> None:
    late = {"event": "stream", "cell": 0, "name": "stdout", "text": "late"}
    first, second = heard(done(), late, done(cell=1), cells=2).results()
    assert (first.stdout.text, second.stdout.text) == ("late", "")


def test_displays_are_kept_up_to_a_bound_and_the_rest_counted() -> None:
    show = {"event": "display", "cell": 0, "data": {"text/plain": "x" * 400}}
    (cell,) = heard(*[show] * 30, done()).results()
    assert 10 < len(cell.displays) < 25 and len(cell.displays) + cell.dropped_displays == 30


def test_too_deep_a_display_is_dropped() -> None:
    data: Any = 1
    for _ in range(40):
        data = [data]
    (cell,) = heard({"event": "display", "cell": 0, "data": {"application/json": data}}, done()).results()
    assert (cell.displays, cell.dropped_displays) == ((), 1)


def test_what_json_cannot_carry_is_left_out_of_displays() -> None:
    line = b'{"event":"display","cell":0,"data":{"a/b":[NaN,1e999,-Infinity,"\\ud800x","\\ud83d\\ude00"]}}'
    (cell,) = heard(line, done()).results()
    assert cell.displays == ({"a/b": [None, None, None, "\ufffdx", "😀"]},)
    json.dumps(cell.displays, allow_nan=False).encode()


def test_the_text_of_errors_is_bounded() -> None:
    error = {"event": "error", "cell": 0, "ename": "E", "evalue": "v" * 6000, "traceback": ["t", 5, "u"]}
    (cell,) = heard(*[error] * 2000, done()).results()
    assert len(cell.errors) == 1000
    assert (cell.errors[0].text, cell.errors[0].traceback) == ("v" * 6000, ("t", "u"))
    assert "too long" in cell.errors[1].text and len(cell.errors[1].text) < 200


def test_how_a_kernel_died_is_told_and_why_where_that_is_known() -> None:
    transcript = heard({**done("died"), "signal": 9})
    assert "signal 9" in transcript.results()[0].errors[0].text
    assert "the memory limit was reached" in transcript.results("the memory limit was reached")[0].errors[0].text
    assert "not known" in heard({**done("died"), "signal": "9"}).results()[0].errors[0].text


def test_text_keeps_its_head_and_its_tail() -> None:
    kept = HeadTailBuffer(10)
    for piece in (b"abc", b"defgh", b"ijklmnop", b"", b"qrstuvwxyz"):
        kept.add(piece)
    output = kept.output()
    assert (output.head, output.tail, output.dropped_bytes) == (b"abcde", b"vwxyz", 16)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_lines_come_out_whole_however_they_came_in(size: int) -> None:
    lines, data = LineSplitter(20), b"one\n\ntwo\n" + b"x" * 50 + b"\nthree\nrest"
    found = [line for start in range(0, len(data), size) for line in lines.split(data[start : start + size])]
    assert found == [b"one", b"", b"two", b"three"]
