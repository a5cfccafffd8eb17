"""Log lines: an event in a few words, then names with values. Written to standard error, as text or as JSON."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Protocol, TextIO, cast

import structlog
from structlog.typing import Processor

SECRET_NAMES = frozenset({"api_key", "authorization", "password", "token", "secret"})
NEVER_LOGGED = frozenset({"code", "stdin", "stdout", "stderr", "content", "body"})


class Log(Protocol):
    """A logger; bind gives one that adds the same facts to every line."""

    def bind(self, **facts: object) -> Log: ...
    def debug(self, event: str, **facts: object) -> None: ...
    def info(self, event: str, **facts: object) -> None: ...
    def warning(self, event: str, **facts: object) -> None: ...
    def error(self, event: str, **facts: object) -> None: ...
    def exception(self, event: str, **facts: object) -> None: ...


def open_log(level: str = "info", form: str = "text", stream: TextIO | None = None, *, color: bool = False) -> Log:
    """A logger of its own. Lines below the level cost one call and no formatting."""
    logger = structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[*_shared_processors(), *_renderers(form, color)],
        wrapper_class=structlog.make_filtering_bound_logger(_level_number(level)),
        context_class=dict,
    )
    return cast(Log, logger)


def server_log_config(
    level: str = "info", form: str = "text", *, color: bool = False, stream: TextIO | None = None
) -> dict[str, Any]:
    """A logging.config dictionary that gives the lines of the web server, and of rooms without a Log, the same shape."""
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(form, color)],
        "foreign_pre_chain": [*_shared_processors(), _drop_color],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"facts": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "stream": stream or "ext://sys.stderr", "formatter": "facts"}},
        "loggers": {
            name: {"handlers": ["stderr"], "level": level.upper(), "propagate": False} for name in ("uvicorn", "sandbox_runtime")
        },
    }


def _level_number(level: str) -> int:
    return logging.getLevelNamesMapping()[level.upper()]


def _shared_processors() -> list[Processor]:
    return [structlog.processors.add_log_level, structlog.processors.TimeStamper("iso", utc=True), _redact]


def _renderers(form: str, color: bool) -> list[Processor]:
    if form == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    plain = structlog.dev.ConsoleRenderer(colors=color, exception_formatter=structlog.dev.plain_traceback)
    return [plain]


def _redact(_logger: object, _method: str, facts: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The last line of defence: whoever logs such a name by mistake leaks nothing."""
    for name in facts:
        if name in SECRET_NAMES:
            facts[name] = "***"
        elif name in NEVER_LOGGED:
            facts[name] = f"({len(facts[name])} withheld)" if isinstance(facts[name], str | bytes) else "(withheld)"
    return facts


def _drop_color(_logger: object, _method: str, facts: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    facts.pop("color_message", None)
    return facts
