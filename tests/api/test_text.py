"""Output bytes as text."""

from __future__ import annotations

import pytest

from sandbox_runtime.api.dialects.fusion.mapping.programs import decode_output
from sandbox_runtime.model import Output


@pytest.mark.parametrize("text", ["", "plain", "grün", "😀", "a\0b"])
def test_utf8_is_decoded(text: str) -> None:
    assert decode_output(Output(text.encode())) == text


@pytest.mark.parametrize("data", [b"\xff", b"ab\xc3", b"\x80", b"\xed\xa0\x80"])
def test_invalid_utf8_is_reported(data: bytes) -> None:
    assert decode_output(Output(data)).startswith("[DecodeError] ")


@pytest.mark.parametrize("character", ["ä", "€", "😀"])
def test_a_character_cut_by_the_dropped_middle_is_left_out(character: str) -> None:
    whole = character.encode() * 10
    for cut in range(1, 5):
        text = decode_output(Output(b"<" + whole[:cut], whole[-cut:] + b">", 100))
        assert text.startswith("<") and text.endswith(">") and "DecodeError" not in text


def test_invalid_utf8_is_reported_if_the_middle_was_dropped() -> None:
    assert decode_output(Output(b"\xff\xff" + b"a" * 10, b"b", 5)).startswith("[DecodeError] ")
