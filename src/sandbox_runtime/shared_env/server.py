"""The entry points. Importing this does nothing: `app` is built when somebody asks for it."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sandbox_runtime.cli.exit_codes import code_of
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
        sys.exit(code_of(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sandbox_runtime.shared_env.server", description="Serve sessions over HTTP.")
    parser.add_argument("--host", help="address to listen on (HOST); anything but loopback needs SANDBOX_API_KEY")
    parser.add_argument("--port", type=int, help="port to listen on (PORT, 8000)")
    parser.add_argument("--workers", type=int, default=1, help="1: one process holds the sessions and uses every core")
    parser.add_argument("--log-level", choices=_LEVELS, type=str.lower, help="least weight of what is logged (LOG_LEVEL)")
    parser.add_argument("--reload", action="store_true", help="restart when the source changes; for development")
    parser.add_argument("--ssl-keyfile", help="key of the certificate, to speak HTTPS")
    parser.add_argument("--ssl-certfile", help="certificate, to speak HTTPS")
    return parser


def _serve(given: argparse.Namespace) -> None:
    if given.workers != 1:
        raise InvalidRequest(f"--workers {given.workers}: a session belongs to one server; start one, it uses every core")
    if bool(given.ssl_keyfile) != bool(given.ssl_certfile):
        raise InvalidRequest("--ssl-keyfile and --ssl-certfile are given together")
    if given.reload and given.ssl_certfile:
        raise InvalidRequest("--reload is for development, without TLS: leave one of them out")
    _listen(_settings(given), given)


def _settings(given: argparse.Namespace) -> Settings:
    named = {"host": given.host, "port": given.port, "log_level": given.log_level}
    return load_shared_env({name: value for name, value in named.items() if value is not None})


def _listen(settings: Settings, given: argparse.Namespace) -> None:
    from sandbox_runtime.cli.web_server import listen, listen_and_reload

    if given.reload:
        listen_and_reload(settings)
    elif given.ssl_certfile:
        listen(settings, {"ssl_keyfile": given.ssl_keyfile, "ssl_certfile": given.ssl_certfile})
    else:
        listen(settings)


if __name__ == "__main__":
    main()
