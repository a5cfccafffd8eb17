"""The command-line arguments of `sandbox-run`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from sandbox_runtime.cli.handler_config import FORMATS, LEVELS, BoxSection, HandlerConfig
from sandbox_runtime.engine.handlers import check_event, timeout_s
from sandbox_runtime.engine.handlers.rules import TIMEOUT_KEY
from sandbox_runtime.errors import InvalidRequest, NotFound

USAGE_CODE = 1
MAX_TIMEOUT_S = 3600.0
_MAX_BYTES = 16 * 1024**2
_HELP = """exit codes: 0 success, 1 the handler failed or another error, 2 a file cannot be read, 3 syntax error or no handler,
4 timeout, 5 no sandbox available, 130 interrupted, 137 out of memory"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Exit with USAGE_CODE: argparse's own code 2 has another meaning here."""
        self.print_usage(sys.stderr)
        self.exit(USAGE_CODE, f"{self.prog}: {message}\n")


@dataclass(frozen=True, slots=True)
class HandlerOptions:
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
    box: BoxSection
    color: bool


def build_parser(config: HandlerConfig) -> argparse.ArgumentParser:
    cli = config.cli
    parser = _Parser(prog="sandbox-run", description="Call a handler in a new sandbox.", epilog=_HELP)
    parser.add_argument("script_path", type=Path, help="file that defines handler(event) or handler(event, context)")
    event = parser.add_mutually_exclusive_group()
    event.add_argument("--event", "-e", metavar="JSON", default=None, help="event as JSON (default: {})")
    event.add_argument("--event-file", "-f", metavar="FILE", type=Path, help="file that contains the event")
    context = parser.add_mutually_exclusive_group()
    context.add_argument("--context", "-c", metavar="JSON", default=None, help="additional context fields as JSON (default: {})")
    context.add_argument("--context-file", metavar="FILE", type=Path, help="file that contains them")
    parser.add_argument(
        "--timeout", "-t", type=float, default=float(cli.default_timeout), help="timeout in seconds (default: %(default)g)"
    )
    parser.add_argument("--verbose", "-v", action="store_true", help="print metrics and details")
    parser.add_argument("--quiet", "-q", action="store_true", help="print no informational lines")
    parser.add_argument(
        "--profile", "-p", action="store_true", default=cli.show_profile, help="print the resources the call used"
    )
    parser.add_argument("--output", "-o", metavar="FILE", type=Path, help="write the result to FILE")
    parser.add_argument("--format", choices=FORMATS, default=cli.default_format, help="output format (default: %(default)s)")
    parser.add_argument(
        "--log-level", choices=LEVELS, type=str.upper, default=config.logging.level, help="log level (default: %(default)s)"
    )
    parser.add_argument("--version", action="version", version=f"sandbox-run {metadata.version('sandbox-runtime')}")
    return parser


def read_arguments(arguments: argparse.Namespace, config: HandlerConfig) -> HandlerOptions:
    if not 0 < arguments.timeout <= MAX_TIMEOUT_S:
        raise InvalidRequest(f"--timeout must be above 0 and at most {MAX_TIMEOUT_S:g} seconds, not {arguments.timeout:g}")
    event = _object(arguments.event, arguments.event_file, "the event")
    limits = [arguments.timeout] + ([timeout_s(event)] if TIMEOUT_KEY in event else [])
    return HandlerOptions(
        script=arguments.script_path,
        event=event,
        context=_object(arguments.context, arguments.context_file, "the context"),
        timeout_s=min(limits),
        verbose=arguments.verbose,
        quiet=arguments.quiet,
        profile=arguments.profile,
        output=arguments.output,
        form=arguments.format,
        log_level=arguments.log_level.lower(),
        box=config.sandbox,
        color=config.cli.enable_colors and arguments.output is None and sys.stdout.isatty(),
    )


def _object(text: str | None, file: Path | None, what: str) -> Mapping[str, Any]:
    source = read_text(file) if file is not None else text if text is not None else "{}"
    try:
        return check_event(json.loads(source))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{what} is not valid JSON: {error}") from error
    except InvalidRequest:
        raise InvalidRequest(f"{what} must be a JSON object") from None


def read_text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise NotFound(f"cannot read {path}: {reason}") from error
    if len(text) > _MAX_BYTES:
        raise NotFound(f"cannot read {path}: it exceeds {_MAX_BYTES} characters")
    return text
