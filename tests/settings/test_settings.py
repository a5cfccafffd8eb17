"""Settings: four sources, one of which wins, and an origin for every value."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import Settings, all_settings, environment_name, load


@pytest.fixture(autouse=True)
def no_file_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "given.toml"
    path.write_text(text)
    return path


def test_defaults_are_those_that_the_documentation_promises() -> None:
    settings = load(environ={})
    assert (settings.cpu_quota, settings.memory_limit, settings.allow_network) == (2.0, 131072, False)
    assert (settings.timeout_seconds, settings.pool_size, settings.isolation) == (300.0, 2, "namespaces")
    assert set(settings.origin.values()) == {"default"}


def test_the_promised_environment_names_work() -> None:
    environ = {
        "SANDBOX_CPU_QUOTA": "0.5",
        "SANDBOX_MEMORY_LIMIT": "65536",
        "SANDBOX_ALLOW_NETWORK": "true",
        "SANDBOX_TIMEOUT_SECONDS": "12.5",
        "SANDBOX_POOL_SIZE": "7",
        "SANDBOX_ISOLATION": "bubblewrap",
    }
    settings = load(environ=environ)
    assert (settings.cpu_quota, settings.memory_limit, settings.allow_network) == (0.5, 65536, True)
    assert (settings.timeout_seconds, settings.pool_size, settings.isolation) == (12.5, 7, "bubblewrap")
    assert settings.origin["pool_size"] == "environment SANDBOX_POOL_SIZE"


def test_a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default(tmp_path: Path) -> None:
    file = written(tmp_path, "pool_size = 3\npool_max = 4\nport = 5\n")
    settings = load({"pool_size": 9}, {"SANDBOX_POOL_SIZE": "8", "SANDBOX_POOL_MAX": "10"}, file)
    assert (settings.pool_size, settings.pool_max, settings.port, settings.queue_size) == (9, 10, 5, 1024)
    assert [settings.origin[name] for name in ("pool_size", "pool_max", "port", "queue_size")] == [
        "flag",
        "environment SANDBOX_POOL_MAX",
        f"file {file}",
        "default",
    ]


def test_the_file_can_be_named_by_the_environment(tmp_path: Path) -> None:
    file = written(tmp_path, 'network_allow = ["10.0.0.0/8"]\n')
    assert load(environ={"SANDBOX_SETTINGS_FILE": str(file)}).network_allow == ("10.0.0.0/8",)


def test_a_file_in_the_working_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "sandbox.toml").write_text("port = 1234\n")
    assert load(environ={}).port == 1234


def test_lite_means_namespaces() -> None:
    assert load(environ={"SANDBOX_ISOLATION": "lite"}).isolation == "namespaces"


def test_an_empty_variable_is_the_same_as_none() -> None:
    assert load(environ={"SANDBOX_PORT": ""}).port == 8080


def test_lists_are_separated_by_commas() -> None:
    assert load(environ={"SANDBOX_PRESET": "numpy, scipy"}).preset == ("numpy", "scipy")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SANDBOX_PORT", "eighty"),
        ("SANDBOX_PORT", "-1"),
        ("SANDBOX_PORT", "70000"),
        ("SANDBOX_CPU_QUOTA", "nan"),
        ("SANDBOX_CPU_QUOTA", "inf"),
        ("SANDBOX_CPU_QUOTA", "0"),
        ("SANDBOX_TIMEOUT_SECONDS", "-5"),
        ("SANDBOX_MEMORY_LIMIT", "1e9"),
        ("SANDBOX_MEMORY_LIMIT", "99999999999999"),
        ("SANDBOX_ALLOW_NETWORK", "maybe"),
        ("SANDBOX_ISOLATION", "docker"),
        ("SANDBOX_LOG_FORMAT", "xml"),
    ],
)
def test_a_bad_value_is_refused_with_its_source_named(name: str, value: str) -> None:
    with pytest.raises(InvalidRequest, match=f"environment {name}"):
        load(environ={name: value})


def test_a_bad_secret_is_refused_without_being_told(tmp_path: Path) -> None:
    file = written(tmp_path, "api_key = 4711\n")
    with pytest.raises(InvalidRequest) as refused:
        load(environ={}, file=file)
    assert "api_key" in str(refused.value) and "4711" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["pool_sise = 3\n", "pool_size = [1]\n", "pool_size = true\n", "pool_size = \n", "[server]\nport = 1\n"]
)
def test_a_bad_file_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InvalidRequest, match=r"given\.toml"):
        load(environ={}, file=file)


def test_a_file_that_was_named_must_exist() -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load(environ={}, file="missing.toml")


def test_an_unknown_flag_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="unknown setting"):
        load({"speed": "11"}, {})


def test_unknown_variables_with_our_prefix_are_left_alone() -> None:
    assert load(environ={"SANDBOX_SERVICE_HOST": "10.0.0.1"}).host == "127.0.0.1"


def test_settings_built_by_hand_are_checked_too() -> None:
    with pytest.raises(InvalidRequest, match="pool_size"):
        Settings(pool_size=-1)


@pytest.mark.parametrize(
    ("host", "exposed"), [("127.0.0.1", False), ("localhost", False), ("::1", False), ("0.0.0.0", True), ("::", True)]
)
def test_only_loopback_is_not_exposed(host: str, exposed: bool) -> None:
    assert Settings(host=host).exposed is exposed


def test_every_knob_has_a_sentence_a_unit_and_its_own_variable() -> None:
    assert all(setting.description.endswith(".") and setting.unit and setting.group for setting in all_settings().values())
    names = [environment_name(name) for name in all_settings()]
    assert len(set(names)) == len(names)


def test_importing_settings_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_PORT", "not a port")
    subprocess.run([sys.executable, "-c", "import sandbox_runtime.settings"], check=True, timeout=30)
