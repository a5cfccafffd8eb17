"""Log lines: facts, no secrets, no code."""

from __future__ import annotations

import io
import json
import logging.config

import pytest

from sandbox_runtime.telemetry import open_log, server_log_config


def test_a_line_has_its_event_level_time_and_facts_as_json() -> None:
    stream = io.StringIO()
    open_log("info", "json", stream).bind(port=1).warning("it happened", reason="why")
    line = json.loads(stream.getvalue())
    assert (line["event"], line["level"], line["port"], line["reason"]) == ("it happened", "warning", 1, "why")
    assert line["timestamp"].endswith("Z")


def test_text_lines_are_for_people() -> None:
    stream = io.StringIO()
    open_log("info", "text", stream).info("it happened", port=1)
    assert "it happened" in stream.getvalue() and "port=1" in stream.getvalue() and "\x1b" not in stream.getvalue()


def test_what_is_below_the_level_is_not_written() -> None:
    stream = io.StringIO()
    open_log("warning", "text", stream).info("not this")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("name", ["code", "stdin", "stdout", "stderr", "api_key", "authorization", "password"])
def test_code_and_secrets_are_withheld_even_when_logged_by_mistake(form: str, name: str) -> None:
    stream = io.StringIO()
    open_log("info", form, stream).info("oops", **{name: "print('hidden')"})
    assert "hidden" not in stream.getvalue() and "oops" in stream.getvalue()


def test_an_exception_is_written_with_its_traceback() -> None:
    stream = io.StringIO()
    try:
        raise KeyError("why")
    except KeyError:
        open_log("info", "json", stream).exception("it broke")
    assert "KeyError" in json.loads(stream.getvalue())["exception"]


def test_two_logs_know_nothing_of_each_other() -> None:
    first, second = io.StringIO(), io.StringIO()
    open_log("info", "json", first).info("one")
    open_log("error", "text", second).info("two")
    assert "one" in first.getvalue() and second.getvalue() == ""


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_web_servers_lines_have_the_same_shape(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    logging.config.dictConfig(server_log_config("info", form))
    logging.getLogger("uvicorn.error").info("started %s", "here", extra={"color_message": "\x1b[1mx"})
    written = capsys.readouterr().err
    assert "started here" in written and "\x1b" not in written
    assert form == "text" or json.loads(written)["level"] == "info"


def test_colour_is_for_those_who_ask() -> None:
    for color in (False, True):
        stream = io.StringIO()
        open_log(stream=stream, color=color).info("ready")
        assert ("\x1b[" in stream.getvalue()) is color
