"""`sandbox exec`: run a command or a program in a session and stream its output."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandbox_runtime.cli.remote import AsJson, Env, Timeout, Url, exit_for, open_client, parse_pairs, print_output
from sandbox_runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from sandbox_runtime.sdk import ExecutionResult, SyncSandboxClient

Session = Annotated[str, typer.Argument(metavar="SESSION", help="Id of the session.")]
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[COMMAND [ARG]...]",
        help="One word: a shell command line. Several: a program and its arguments.",
        show_default=False,
    ),
]
Code = Annotated[str | None, typer.Option("--code", "-c", help="Run this program instead of a command.", show_default=False)]
Source = Annotated[Path | None, typer.Option("--file", "-f", help="Run the program in this local file.", show_default=False)]
Language = Annotated[str, typer.Option("--language", "-l", help="Language of the program.")]
Event = Annotated[
    str | None, typer.Option("--event", metavar="JSON", help="Event passed to the program's handler.", show_default=False)
]
Stdin = Annotated[bool, typer.Option("--stdin", "-i", help="Pass standard input, read to its end first.")]
Detach = Annotated[bool, typer.Option("--detach", "-d", help="Print the execution id and exit; see `sandbox logs`.")]

HELP = """Exit code: the program's own; 124 on timeout, 130 if cancelled, 70 on a platform error. Ctrl-C cancels the execution."""


def register(app: typer.Typer) -> None:
    app.command("exec", epilog=HELP)(exec_)


def exec_(
    session_id: Session,
    words: Words = None,
    code: Code = None,
    source: Source = None,
    language: Language = "python",
    event: Event = None,
    stdin: Stdin = False,
    env: Env = None,
    timeout: Timeout = 30.0,
    detach: Detach = False,
    as_json: AsJson = False,
    url: Url = "",
) -> None:
    """Run a command or a program in a session: `sandbox exec SESSION -- ls -l`, `sandbox exec SESSION -c "print(1)"`."""
    text, kind = _program(words, code, source, language)
    more: dict[str, Any] = {
        "language": kind,
        "event": None if event is None else _event(event),
        "stdin": sys.stdin.read() if stdin else None,
        "env": parse_pairs(env, "--env"),
    }
    with open_client(url) as client:
        submitted = client.submit_code(session_id, text, timeout, **more)
        if detach:
            print(submitted.id)
            return
        raise exit_for(_follow(client, submitted.id, as_json))


def _follow(client: SyncSandboxClient, execution_id: str, as_json: bool) -> ExecutionResult:
    """Print the output until the execution ends. Ctrl-C cancels the execution."""
    try:
        if not as_json:
            print_output(client.follow(execution_id))
        execution = client.wait_execution(execution_id)
    except KeyboardInterrupt:
        execution = client.cancel_execution(execution_id)
    if as_json:
        print(execution.model_dump_json(indent=2))
    elif execution.result is not None:
        print(json.dumps(execution.result, ensure_ascii=False))
    return execution


def _program(words: list[str] | None, code: str | None, source: Path | None, language: str) -> tuple[str, str]:
    """Return the code and its language."""
    if sum(bool(source) for source in (words, code is not None, source is not None)) != 1:
        raise InvalidRequest("give exactly one of: a command, --code, --file")
    if words:
        return (words[0] if len(words) == 1 else shlex.join(words)), "shell"
    if source is None:
        return code or "", language
    try:
        return source.read_text(encoding="utf-8"), language
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"cannot read {source}: {error}") from error


def _event(text: str) -> dict[str, Any]:
    try:
        event = json.loads(text)
    except ValueError as error:
        raise InvalidRequest(f"--event is not valid JSON: {error}") from error
    if not isinstance(event, dict):
        raise InvalidRequest("--event must be a JSON object")
    return event
