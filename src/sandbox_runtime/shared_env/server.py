"""The entry points. `app` is created on first access, not on import."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sandbox_runtime.cli.exit_codes import error_exit_code
from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.settings import Settings
from sandbox_runtime.settings.shared_env import load_shared_env

if TYPE_CHECKING:
    from fastapi import FastAPI

_LEVELS = ("debug", "info", "warning", "error")


def __getattr__(name: str) -> Any:
    if name == "app":
        return _app()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@functools.cache
def _app() -> FastAPI:
    from sandbox_runtime.api.app import create_app
    from sandbox_runtime.assembly import open_platform

    return create_app(load_shared_env(), platform_factory=functools.partial(open_platform, sessions=True))


def main(argv: Sequence[str] | None = None) -> None:
    try:
        _serve(_parser().parse_args(argv))
    except SandboxError as error:
        print(f"shared_env: {error}", file=sys.stderr)
        sys.exit(error_exit_code(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sandbox_runtime.shared_env.server", description="Serve sessions over HTTP.")
    parser.add_argument("--host", help="listen address (default: HOST); any other than loopback requires SANDBOX_API_KEY")
    parser.add_argument("--port", type=int, help="port (default: PORT, else 8000)")
    parser.add_argument("--workers", type=int, default=1, help="must be 1: one process holds all sessions and uses every core")
    parser.add_argument("--log-level", choices=_LEVELS, type=str.lower, help="minimum log level (default: LOG_LEVEL)")
    parser.add_argument("--reload", action="store_true", help="restart when the source changes (for development)")
    parser.add_argument("--ssl-keyfile", help="private key, to serve HTTPS")
    parser.add_argument("--ssl-certfile", help="certificate, to serve HTTPS")
    return parser


def _serve(arguments: argparse.Namespace) -> None:
    if arguments.workers != 1:
        raise InvalidRequest(f"--workers must be 1, not {arguments.workers}: one process holds all sessions and uses every core")
    if bool(arguments.ssl_keyfile) != bool(arguments.ssl_certfile):
        raise InvalidRequest("--ssl-keyfile and --ssl-certfile must be given together")
    if arguments.reload and arguments.ssl_certfile:
        raise InvalidRequest("--reload cannot be combined with --ssl-certfile")
    _listen(_settings(arguments), arguments)


def _settings(arguments: argparse.Namespace) -> Settings:
    named = {"host": arguments.host, "port": arguments.port, "log_level": arguments.log_level}
    return load_shared_env({name: value for name, value in named.items() if value is not None})


def _listen(settings: Settings, arguments: argparse.Namespace) -> None:
    from sandbox_runtime.cli.web_server import listen, listen_and_reload

    if arguments.reload:
        listen_and_reload(settings)
    elif arguments.ssl_certfile:
        listen(settings, {"ssl_keyfile": arguments.ssl_keyfile, "ssl_certfile": arguments.ssl_certfile})
    else:
        listen(settings)


if __name__ == "__main__":
    main()
