"""The arguments of `sandbox-run`, read into what they mean."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from sandbox_runtime.cli.handler_config import FORMATS, LEVELS, BoxPart, HandlerConfig
from sandbox_runtime.engine.handlers import check_event, timeout_s
from sandbox_runtime.engine.handlers.rules import TIMEOUT_KEY
from sandbox_runtime.errors import InvalidRequest, NotFound

USAGE_CODE = 1
LONGEST_S = 3600.0
_MOST_BYTES = 16 * 1024**2
_HELP = """exit codes: 0 success, 1 the handler failed or another error, 2 a file cannot be read, 3 syntax error or no handler,
4 timeout, 5 no sandbox could be had, 130 interrupted, 137 out of memory"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """With our code: the usual one means something else here."""
        self.print_usage(sys.stderr)
        self.exit(USAGE_CODE, f"{self.prog}: {message}\n")


@dataclass(frozen=True, slots=True)
class Asked:
    script: Path
    event: Mapping[str, Any]
    context: Mapping[str, Any]
    timeout_s: float
    verbose: bool
    quiet: bool
    profile: bool
    output: Path | None
    form: str
    log_level: str
    box: BoxPart
    color: bool


def parser(config: HandlerConfig) -> argparse.ArgumentParser:
    cli = config.cli
    made = _Parser(prog="sandbox-run", description="Call a handler in a fresh sandbox.", epilog=_HELP)
    made.add_argument("script_path", type=Path, help="file that defines handler(event) or handler(event, context)")
    event = made.add_mutually_exclusive_group()
    event.add_argument("--event", "-e", metavar="JSON", default=None, help="event as JSON ('{}')")
    event.add_argument("--event-file", "-f", metavar="FILE", type=Path, help="file with the event")
    context = made.add_mutually_exclusive_group()
    context.add_argument("--context", "-c", metavar="JSON", default=None, help="further fields of the context as JSON ('{}')")
    context.add_argument("--context-file", metavar="FILE", type=Path, help="file with them")
    made.add_argument("--timeout", "-t", type=float, default=float(cli.default_timeout), help="seconds (%(default)g)")
    made.add_argument("--verbose", "-v", action="store_true", help="tell everything there is to tell")
    made.add_argument("--quiet", "-q", action="store_true", help="no informational lines")
    made.add_argument("--profile", "-p", action="store_true", default=cli.show_profile, help="show what the call used")
    made.add_argument("--output", "-o", metavar="FILE", type=Path, help="write the result there")
    made.add_argument("--format", choices=FORMATS, default=cli.default_format, help="(%(default)s)")
    made.add_argument("--log-level", choices=LEVELS, type=str.upper, default=config.logging.level, help="(%(default)s)")
    made.add_argument("--version", action="version", version=f"sandbox-run {metadata.version('sandbox-runtime')}")
    return made


def read_arguments(given: argparse.Namespace, config: HandlerConfig) -> Asked:
    if not 0 < given.timeout <= LONGEST_S:
        raise InvalidRequest(f"--timeout must be above 0 and at most {LONGEST_S:g} seconds, not {given.timeout:g}")
    event = _object(given.event, given.event_file, "the event")
    limits = [given.timeout] + ([timeout_s(event)] if TIMEOUT_KEY in event else [])
    return Asked(
        script=given.script_path,
        event=event,
        context=_object(given.context, given.context_file, "the context"),
        timeout_s=min(limits),
        verbose=given.verbose,
        quiet=given.quiet,
        profile=given.profile,
        output=given.output,
        form=given.format,
        log_level=given.log_level.lower(),
        box=config.sandbox,
        color=config.cli.enable_colors and given.output is None and sys.stdout.isatty(),
    )


def _object(text: str | None, file: Path | None, what: str) -> Mapping[str, Any]:
    source = text_of(file) if file is not None else text if text is not None else "{}"
    try:
        return check_event(json.loads(source))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{what} is no JSON: {error}") from error
    except InvalidRequest:
        raise InvalidRequest(f"{what} must be a JSON object") from None


def text_of(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MOST_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise NotFound(f"{path} cannot be read: {reason}") from error
    if len(text) > _MOST_BYTES:
        raise NotFound(f"{path} cannot be read: it has more than {_MOST_BYTES} characters")
    return text
