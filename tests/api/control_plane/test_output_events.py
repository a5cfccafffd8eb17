"""Encoding output bytes as messages."""

from __future__ import annotations

import base64

import pytest

from sandbox_runtime.api.dialects.control_plane.mapping.output_events import Utf8EventEncoder, event_id, parse_event_id
from sandbox_runtime.sessions import OutputPiece


def test_a_character_in_two_pieces_is_one() -> None:
    encoder = Utf8EventEncoder({"stdout": 0})
    euro = "€".encode()
    messages = [
        m
        for piece in (
            OutputPiece("stdout", 0, b"a" + euro[:1]),
            OutputPiece("stdout", 2, euro[1:2]),
            OutputPiece("stdout", 3, euro[2:] + b"b"),
        )
        for m in encoder.messages(piece)
    ]
    assert [(message["offset"], message["next_offset"], message["data"]) for message in messages] == [(0, 1, "a"), (1, 5, "€b")]
    assert list(encoder.last()) == []


def test_half_a_character_at_the_end_is_told_as_it_is() -> None:
    encoder = Utf8EventEncoder({"stdout": 7})
    assert list(encoder.messages(OutputPiece("stdout", 7, b"\xf0\x9f"))) == []
    assert [base64.b64decode(message["data_base64"]) for message in encoder.last()] == [b"\xf0\x9f"]
    assert encoder.offsets == {"stdout": 9}


@pytest.mark.parametrize("text", ["", "stdout", "stdout:-1", "stdin:1", "stdout:1;stderr:2", "stdout:9" * 30])
def test_ids_of_others_are_no_ids(text: str) -> None:
    with pytest.raises(ValueError):
        parse_event_id(text)


def test_an_id_holds_every_offset() -> None:
    assert parse_event_id(event_id({"stdout": 3, "stderr": 0})) == {"stdout": 3, "stderr": 0}
