"""Streams of events as they come over a connection: cut anywhere, repeated, broken."""

from __future__ import annotations

import base64
import json

import pytest

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.sdk.events import Event, EventParser, StreamPosition
from sandbox_runtime.sdk.session_models import Output


def output(stream: str, offset: int, data: bytes) -> Event:
    told = {"stream": stream, "offset": offset, "data": data.decode(errors="replace")}
    exact = {} if data.isascii() else {"data_base64": base64.b64encode(data).decode()}
    return Event(stream, json.dumps({**told, **exact}))


def test_events_are_found_however_the_bytes_are_cut() -> None:
    stream = ': awake\n\nevent: output\ndata: {"é":\ndata: 1}\nid: 7\n\nevent: end\r\ndata: {}\r\n\r\ndata: bare\n\n'.encode()
    for size in (1, 2, 3, 7, 1000):
        events = EventParser()
        found = [event for at in range(0, len(stream), size) for event in events.take(stream[at : at + size])]
        assert found == [Event("output", '{"é":\n1}'), Event("end", "{}"), Event("message", "bare")]


def test_an_event_without_end_is_a_fault_of_the_server() -> None:
    events = EventParser()
    with pytest.raises(PlatformFault, match="more than"):
        for _ in range(100):
            list(events.take(b"data: " + b"x" * 100_000 + b"\n"))
    with pytest.raises(PlatformFault, match="more than"):
        list(EventParser().take(b"x" * 5_000_000))


def test_what_was_seen_already_is_not_given_again() -> None:
    position = StreamPosition({"stdout": 0, "stderr": 0})
    assert position.take(output("stdout", 0, b"abc")) == Output("stdout", 0, b"abc")
    assert position.take(output("stdout", 0, b"abc")) is None
    assert position.take(output("stdout", 1, b"bcde")) == Output("stdout", 3, b"de")
    assert position.take(output("stderr", 0, b"abc")) == Output("stderr", 0, b"abc")
    assert position.offsets == {"stdout": 5, "stderr": 3}


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    found = StreamPosition({"stdout": 0}).take(output("stdout", 0, b"\xff\x00\xfe"))
    assert found is not None and found.data == b"\xff\x00\xfe" and "\ufffd" in found.text


@pytest.mark.parametrize(
    "data", ["", "[]", "null", "{}", '{"offset": "x", "data": ""}', '{"offset": 0, "data": "", "data_base64": "*"}']
)
def test_an_event_of_another_shape_is_a_fault_of_the_server(data: str) -> None:
    with pytest.raises(PlatformFault, match="unexpected event"):
        StreamPosition({"stdout": 0}).take(Event("stdout", data))


def test_events_that_are_no_output_are_left_out() -> None:
    position = StreamPosition({"stdout": 0})
    assert position.take(output("stdin", 0, b"x")) is None and not position.ended
    assert position.take(Event("end", "{}")) is None and position.ended
