"""URLs of the servers. They are kept in the environment of this process and read at every call."""

from __future__ import annotations

import os

from sandbox_runtime.errors import InvalidRequest

SANDBOX_VARIABLE = "SANDBOX_FUSION_ENDPOINT"
DATASET_VARIABLE = "SANDBOX_FUSION_DATASET_ENDPOINT"
URL_VARIABLE = "SANDBOX_URL"
KEY_VARIABLE = "SANDBOX_API_KEY"
DEFAULT = "http://localhost:8080"


def set_endpoint(endpoint: str) -> None:
    """Set the server of runs and of the judge."""
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
    """Return the server of sessions; by default the one that runs programs."""
    return check_url(endpoint or os.environ.get(URL_VARIABLE) or os.environ.get(SANDBOX_VARIABLE) or DEFAULT)


def api_key() -> str:
    return os.environ.get(KEY_VARIABLE, "")


def check_url(endpoint: str) -> str:
    if not endpoint.startswith(("http://", "https://")):
        raise InvalidRequest(f"{endpoint!r} is not a server URL; use http://HOST:PORT")
    return endpoint.rstrip("/")
