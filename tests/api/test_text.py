"""Output bytes as text."""

from __future__ import annotations

import pytest

from sandbox_runtime.api.dialects.fusion.mapping.output_text import decoded
from sandbox_runtime.model import Output


@pytest.mark.parametrize("text", ["", "plain", "grün", "😀", "a\0b"])
def test_text_is_text(text: str) -> None:
    assert decoded(Output(text.encode())) == text


@pytest.mark.parametrize("data", [b"\xff", b"ab\xc3", b"\x80", b"\xed\xa0\x80"])
def test_what_is_no_text_is_told_so(data: bytes) -> None:
    assert decoded(Output(data)).startswith("[DecodeError] ")


@pytest.mark.parametrize("character", ["ä", "€", "😀"])
def test_a_character_cut_by_the_dropped_middle_is_left_out(character: str) -> None:
    whole = character.encode() * 10
    for cut in range(1, 5):
        text = decoded(Output(b"<" + whole[:cut], whole[-cut:] + b">", 100))
        assert text.startswith("<") and text.endswith(">") and "DecodeError" not in text


def test_bytes_that_never_were_text_are_told_of_although_some_were_dropped() -> None:
    assert decoded(Output(b"\xff\xff" + b"a" * 10, b"b", 5)).startswith("[DecodeError] ")
