"""`sandbox exec`: a command or a program in a session, its output as it comes."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sandbox_runtime.cli.remote import AsJson, Env, Timeout, Url, client_of, conclude, pairs, show
from sandbox_runtime.errors import InvalidRequest

if TYPE_CHECKING:
    from sandbox_runtime.sdk import ExecutionResult, SyncSandboxClient

Session = Annotated[str, typer.Argument(metavar="SESSION", help="Its id.")]
Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[COMMAND [ARG]...]",
        help="One word: a line for the shell. More: a program and its arguments.",
        show_default=False,
    ),
]
Code = Annotated[str | None, typer.Option("--code", "-c", help="A program instead of a command.", show_default=False)]
Source = Annotated[Path | None, typer.Option("--file", "-f", help="The same, from a local file.", show_default=False)]
Language = Annotated[str, typer.Option("--language", "-l", help="Of the program.")]
Event = Annotated[
    str | None, typer.Option("--event", metavar="JSON", help="What its handler is called with.", show_default=False)
]
Stdin = Annotated[bool, typer.Option("--stdin", "-i", help="Give it our standard input, once that has ended.")]
Detach = Annotated[bool, typer.Option("--detach", "-d", help="Print the id of the execution and go; `sandbox logs` shows more.")]

HELP = """Exit code: that of the program; 124 where its time ran out, 130 where it was cancelled, 70 for a fault of the platform.
Ctrl-C cancels it."""


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
    """Run a command, or a program, in a session: `sandbox exec SESSION -- ls -l`, `sandbox exec SESSION -c "print(1)"`."""
    text, kind = _asked(words, code, source, language)
    more: dict[str, Any] = {
        "language": kind,
        "event": None if event is None else _event(event),
        "stdin": sys.stdin.read() if stdin else None,
        "env": pairs(env, "--env"),
    }
    with client_of(url) as client:
        submitted = client.submit_code(session_id, text, timeout, **more)
        if detach:
            print(submitted.id)
            return
        raise conclude(_followed(client, submitted.id, as_json))


def _followed(client: SyncSandboxClient, execution_id: str, as_json: bool) -> ExecutionResult:
    """Its end. Whoever interrupts us means the execution."""
    try:
        if not as_json:
            show(client.follow(execution_id))
        found = client.wait_execution(execution_id)
    except KeyboardInterrupt:
        found = client.cancel_execution(execution_id)
    if as_json:
        print(found.model_dump_json(indent=2))
    elif found.result is not None:
        print(json.dumps(found.result, ensure_ascii=False))
    return found


def _asked(words: list[str] | None, code: str | None, source: Path | None, language: str) -> tuple[str, str]:
    """The text, and what it is written in."""
    if sum(bool(given) for given in (words, code is not None, source is not None)) != 1:
        raise InvalidRequest("say what is to be run: a command, or --code, or --file; and only one of them")
    if words:
        return (words[0] if len(words) == 1 else shlex.join(words)), "shell"
    if source is None:
        return code or "", language
    try:
        return source.read_text(encoding="utf-8"), language
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{source} cannot be read: {error}") from error


def _event(text: str) -> dict[str, Any]:
    try:
        event = json.loads(text)
    except ValueError as error:
        raise InvalidRequest(f"--event is no JSON: {error}") from error
    if not isinstance(event, dict):
        raise InvalidRequest("--event must be a JSON object")
    return event
