"""The older server's environment names."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings.shared_env import load_shared_env


@pytest.mark.requirement("workspace-1.28")
def test_the_port_is_8000_and_the_address_loopback() -> None:
    settings = load_shared_env(environ={})
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)


@pytest.mark.requirement("workspace-4.01")
def test_the_defaults_of_the_interface() -> None:
    settings = load_shared_env(environ={})
    assert (settings.cpu_quota, settings.memory_limit, settings.timeout_seconds, settings.pool_size) == (2, 131_072, 300, 2)
    assert (settings.workspace_expiration_time, settings.downloader_timeout) == (86_400, 300)


@pytest.mark.requirement("workspace-4.01", "workspace-4.02", "workspace-4.03", "workspace-4.04")
def test_every_name_reaches_its_setting() -> None:
    settings = load_shared_env(
        environ={
            "SANDBOX_CPU_QUOTA": "3",
            "SANDBOX_MEMORY_LIMIT": "262144",
            "SANDBOX_ALLOW_NETWORK": "true",
            "SANDBOX_TIMEOUT_SECONDS": "60",
            "SANDBOX_POOL_SIZE": "5",
            "SANDBOX_MAX_USER_PROGRESS": "50",
            "WORKSPACE_EXPIRATION_TIME": "100",
            "EFAST_DOWNLOADER_URL": "http://documents",
            "DOWNLOADER_TIMEOUT": "20",
            "HOST": "::1",
            "PORT": "9101",
            "WORKERS": "1",
            "SANDBOX_ISOLATION_TYPE": "Bubblewrap",
            "LOG_LEVEL": "WARNING",
            "LOG_FORMAT": "json",
        }
    )
    assert (settings.cpu_quota, settings.memory_limit, settings.allow_network, settings.timeout_seconds) == (3, 262_144, True, 60)
    assert (settings.pool_size, settings.process_limit, settings.workspace_expiration_time) == (5, 50, 100)
    assert (settings.efast_downloader_url, settings.downloader_timeout) == ("http://documents", 20)
    assert (settings.host, settings.port, settings.isolation) == ("::1", 9101, "bubblewrap")
    assert (settings.log_level, settings.log_format) == ("warning", "json")


def test_the_usual_name_goes_before_the_older_one() -> None:
    assert load_shared_env(environ={"PORT": "1", "SANDBOX_PORT": "2"}).port == 2
    assert load_shared_env({"port": 3}, environ={"PORT": "1", "SANDBOX_PORT": "2"}).port == 3


@pytest.mark.parametrize("environ", [{"WORKERS": "4"}, {"PORT": "many"}, {"SANDBOX_ISOLATION_TYPE": "docker"}])
def test_what_cannot_be_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest):
        load_shared_env(environ=environ)


@pytest.mark.requirement("workspace-4.08")
def test_the_version_is_that_of_the_file() -> None:
    file = Path(__file__).parents[2] / "VERSION"
    assert file.read_text().strip() == metadata.version("sandbox-runtime")
