"""The names that deployments of the control plane use."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import Settings, load
from sandbox_runtime.settings.aliases import CONVERTED, DIRECT, IGNORED, read_aliases

NAMES = """
APP_NAME APP_VERSION ENVIRONMENT DEBUG HOST PORT WORKERS DATABASE_URL DB_POOL_SIZE DB_MAX_OVERFLOW DB_POOL_RECYCLE
DB_TYPE DB_HOST DB_PORT DB_USER DB_PASSWORD DB_DATABASE DB_CHARSET S3_BUCKET S3_REGION S3_ACCESS_KEY_ID
S3_SECRET_ACCESS_KEY S3_ENDPOINT_URL DOCKER_HOST DOCKER_TLS_VERIFY DOCKER_CERT_PATH KUBERNETES_NAMESPACE RUNTIME_TYPE
DEFAULT_TIMEOUT MAX_TIMEOUT DEFAULT_CPU DEFAULT_MEMORY DEFAULT_DISK DISABLE_BWRAP CONTROL_PLANE_URL
IDLE_THRESHOLD_MINUTES MAX_LIFETIME_HOURS CLEANUP_INTERVAL_SECONDS CREATING_TIMEOUT_SECONDS MAX_RETRY_ATTEMPTS
RETRY_BACKOFF_BASE RETRY_BACKOFF_FACTOR MAX_RETRY_BACKOFF WARM_POOL_ENABLED WARM_POOL_DEFAULT_SIZE WARM_POOL_MIN_SIZE
WARM_POOL_MAX_IDLE_TIME HEALTH_CHECK_INTERVAL_SECONDS HEARTBEAT_INTERVAL_SECONDS HEARTBEAT_TIMEOUT_SECONDS LOG_LEVEL
LOG_FORMAT METRICS_ENABLED METRICS_PORT SECRET_KEY ALLOWED_HOSTS CORS_ORIGINS RATE_LIMIT_ENABLED RATE_LIMIT_PER_MINUTE
INTERNAL_API_TOKEN FILE_MAX_SIZE_MB DEFAULT_TEMPLATE_IMAGE
"""
SEVERAL = {"DEBUG", "RATE_LIMIT_ENABLED", "RATE_LIMIT_PER_MINUTE", "DB_TYPE", "DB_HOST", "DB_PORT", "DB_USER", "DB_PASSWORD"}
SEVERAL |= {"DB_DATABASE", "DB_CHARSET"}


def read(**environ: str) -> Settings:
    return load(environ=environ)


@pytest.mark.requirement("control_plane-5.01")
def test_every_name_is_known_and_has_one_meaning() -> None:
    known = [*DIRECT, *CONVERTED, *IGNORED, *SEVERAL]
    assert set(NAMES.split()) <= set(known) and len(known) == len(set(known))


@pytest.mark.requirement("control_plane-5.01")
@pytest.mark.parametrize(
    ("environ", "name", "value"),
    [
        ({"HOST": "127.0.0.2"}, "host", "127.0.0.2"),
        ({"port": "9000"}, "port", 9000),
        ({"Database_Url": "mysql+aiomysql://u:p@h/d"}, "database_url", "mysql+aiomysql://u:p@h/d"),
        ({"DB_POOL_SIZE": "7"}, "database_pool_size", 7),
        ({"LOG_LEVEL": "WARN"}, "log_level", "warning"),
        ({"DEBUG": "true"}, "log_level", "debug"),
        ({"DEBUG": "true", "LOG_LEVEL": "ERROR"}, "log_level", "error"),
        ({"DEFAULT_MEMORY": "512Mi"}, "memory_limit", 512 * 1024),
        ({"DEFAULT_DISK": "1Gi"}, "disk_limit", 1024**3),
        ({"FILE_MAX_SIZE_MB": "5"}, "session_file_max_bytes", 5 * 1024**2),
        ({"IDLE_THRESHOLD_MINUTES": "30"}, "session_idle_s", 1800.0),
        ({"IDLE_THRESHOLD_MINUTES": "-1"}, "session_idle_s", 0.0),
        ({"MAX_LIFETIME_HOURS": "6"}, "session_lifetime_s", 21_600.0),
        ({"MAX_LIFETIME_HOURS": "-1"}, "session_lifetime_s", 0.0),
        ({"WARM_POOL_DEFAULT_SIZE": "10"}, "warm_pool_size", 10),
        ({"WARM_POOL_PYTHON_BASIC_SIZE": "4"}, "warm_pool_sizes", ("python-basic=4",)),
        ({"ALLOWED_HOSTS": '["a.example.org", "*.b.org"]'}, "allowed_hosts", ("a.example.org", "*.b.org")),
        ({"CORS_ORIGINS": "https://a.org,https://b.org"}, "cors_origins", ("https://a.org", "https://b.org")),
        ({"RATE_LIMIT_ENABLED": "true"}, "rate_limit_per_minute", 60),
        ({"RATE_LIMIT_PER_MINUTE": "90"}, "rate_limit_per_minute", 90),
        ({"RATE_LIMIT_PER_MINUTE": "90", "RATE_LIMIT_ENABLED": "false"}, "rate_limit_per_minute", 0),
        ({"INTERNAL_API_TOKEN": "t"}, "internal_api_token", "t"),
        ({"S3_BUCKET": "b"}, "s3_bucket", "b"),
        ({"HEARTBEAT_TIMEOUT_SECONDS": "15"}, "node_silent_s", 15.0),
        ({"HOST": "", "PORT": ""}, "port", 8080),
    ],
)
def test_a_name_sets_what_it_stands_for(environ: dict[str, str], name: str, value: object) -> None:
    assert getattr(read(**environ), name) == value


@pytest.mark.requirement("control_plane-5.01")
def test_our_own_name_goes_first() -> None:
    assert read(PORT="1", SANDBOX_PORT="2").port == 2
    assert read(PORT="1").origin["port"] == "environment PORT"


@pytest.mark.requirement("control_plane-5.02")
def test_the_parts_of_a_database_make_its_url() -> None:
    parts = {
        "DB_TYPE": "MYSQL",
        "DB_HOST": "db",
        "DB_PORT": "3330",
        "DB_USER": "u",
        "DB_PASSWORD": "p@ss/word",
        "DB_DATABASE": "adp",
    }
    settings = read(**parts, DATABASE_URL="sqlite:////x.db")
    assert settings.database_url == "mysql://u:p%40ss%2Fword@db:3330/adp"
    incomplete = {name: value for name, value in parts.items() if name != "DB_PASSWORD"}
    assert read(**incomplete, DATABASE_URL="sqlite:////x.db").database_url == "sqlite:////x.db"
    with pytest.raises(InvalidRequest, match="DB_TYPE"):
        read(**{**parts, "DB_TYPE": "oracle"})


@pytest.mark.requirement("control_plane-5.03")
def test_a_file_called_env_is_read_too(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("# ours\nexport PORT='9001'\nlog_level=ERROR\nUNKNOWN=1\nbroken line\n")
    found = {name: value for (name, value), _ in read_aliases({}, tmp_path)}
    assert found == {"port": "9001", "log_level": "error"}
    assert dict(pair for pair, _ in read_aliases({"PORT": "9002"}, tmp_path))["port"] == "9002"
    (tmp_path / ".env").write_bytes(b"\xff" * 100_000)
    assert read_aliases({}, tmp_path) == []


@pytest.mark.parametrize(
    "environ",
    [
        {"DEFAULT_MEMORY": "much"},
        {"FILE_MAX_SIZE_MB": "x"},
        {"ALLOWED_HOSTS": "[1"},
        {"PORT": "x"},
        {"IDLE_THRESHOLD_MINUTES": "soon"},
    ],
)
def test_what_cannot_be_read_is_told_by_name(environ: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest):
        read(**environ)
