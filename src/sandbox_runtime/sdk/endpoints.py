"""Where the servers are. The environment of this process is the one place where that is kept, and it is read at every call."""

from __future__ import annotations

import os

from sandbox_runtime.errors import InvalidRequest

SANDBOX_VARIABLE = "SANDBOX_FUSION_ENDPOINT"
DATASET_VARIABLE = "SANDBOX_FUSION_DATASET_ENDPOINT"
URL_VARIABLE = "SANDBOX_URL"
KEY_VARIABLE = "SANDBOX_API_KEY"
DEFAULT = "http://localhost:8080"


def set_endpoint(endpoint: str) -> None:
    """For everything: runs and judging."""
    set_sandbox_endpoint(endpoint)
    set_dataset_endpoint(endpoint)


def set_sandbox_endpoint(endpoint: str) -> None:
    os.environ[SANDBOX_VARIABLE] = check_url(endpoint)


def set_dataset_endpoint(endpoint: str) -> None:
    os.environ[DATASET_VARIABLE] = check_url(endpoint)


def sandbox_endpoint(endpoint: str) -> str:
    return check_url(endpoint or os.environ.get(SANDBOX_VARIABLE) or DEFAULT)


def dataset_endpoint(endpoint: str) -> str:
    return check_url(endpoint or os.environ.get(DATASET_VARIABLE) or DEFAULT)


def session_endpoint(endpoint: str) -> str:
    """Of the server that holds sessions: most often the one that runs programs."""
    return check_url(endpoint or os.environ.get(URL_VARIABLE) or os.environ.get(SANDBOX_VARIABLE) or DEFAULT)


def api_key() -> str:
    return os.environ.get(KEY_VARIABLE, "")


def check_url(endpoint: str) -> str:
    if not endpoint.startswith(("http://", "https://")):
        raise InvalidRequest(f"{endpoint!r} is no address of a server; write it as http://HOST:PORT")
    return endpoint.rstrip("/")
