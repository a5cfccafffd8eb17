"""The configuration of mcp-sandboxd: where it is found, what may stand in it, and the command around it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sandbox_runtime.cli.mcp_sandboxd import build
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config import DEFAULT_TOOLS, McpConfig, default_yaml, keys, load_config, validate
from sandbox_runtime.mcp.tools.registry import all_tools, enabled_tools


@pytest.mark.requirement("mcp-2.01")
def test_the_defaults_are_those_that_are_documented() -> None:
    config = McpConfig()
    assert (config.server.name, config.server.protocol, config.server.port) == ("SandboxRunner MCP Server", "stdio", 3000)
    assert (config.sandbox.max_sandboxes, config.sandbox.network_mode, config.sandbox.cleanup_interval) == (10, "none", 300.0)
    assert (config.tools.default_timeout, config.tools.max_output_size, config.tools.validation_level) == (
        30.0,
        1024**2,
        "strict",
    )
    assert (config.resources.max_file_size, config.resources.max_files) == (10 * 1024**2, 1000)
    assert config.tools.enabled_tools == DEFAULT_TOOLS and config.logging.format == "json"


@pytest.mark.requirement("mcp-1.02", "mcp-2.02")
def test_a_generated_file_loads_to_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "mcp-sandboxd.yaml"
    made = CliRunner().invoke(build(), ["config", "generate", "-o", str(file)])
    assert made.exit_code == 0, made.output
    assert file.read_text() == default_yaml() and load_config({}, file) == McpConfig()
    again = CliRunner().invoke(build(), ["config", "generate", "-o", str(file)])
    assert isinstance(again.exception, InvalidRequest), "what is there is not overwritten"
    valid = CliRunner().invoke(build(), ["config", "validate", str(file)])
    assert valid.exit_code == 0 and "10 tools are enabled" in valid.output


@pytest.mark.requirement("mcp-2.05")
def test_keys_without_effect_are_told_when_the_file_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "mcp-sandboxd.yaml"
    file.write_text("tools: {custom_tools: {dance: {}}}\nserver: {read_timeout: 5s}\n")
    told = CliRunner().invoke(build(), ["config", "validate", str(file)]).output
    assert "tools.custom_tools has no effect: tools cannot be defined" in told and "server.read_timeout has no effect" in told


@pytest.mark.requirement("mcp-2.03")
@pytest.mark.parametrize(
    "yaml",
    [
        "server: {name: ''}",
        "server: {protocol: pigeon}",
        "server: {port: 0}",
        "server: {read_timeout: 0s}",
        "sandbox: {max_sandboxes: 0}",
        "sandbox: {network_mode: all}",
        "tools: {max_output_size: 1023}",
        "tools: {validation_level: lax}",
        "tools: {default_timeout: soon}",
        "resources: {max_file_size: 1000}",
        "resources: {max_files: 0}",
        "logging: {level: loud}",
        "logging: {format: xml}",
        "sandboxes: {}",
        "- a\n- list",
        "server: [",
    ],
)
def test_what_is_not_valid_is_told_with_its_key(tmp_path: Path, yaml: str) -> None:
    file = tmp_path / "mcp-sandboxd.yaml"
    file.write_text(yaml)
    with pytest.raises(InvalidRequest) as caught:
        load_config({}, file)
    assert str(file) in str(caught.value)


@pytest.mark.requirement("mcp-1.03")
def test_the_environment_stands_above_the_file_and_flags_above_both(tmp_path: Path) -> None:
    file = tmp_path / "mcp-sandboxd.yaml"
    file.write_text("logging: {level: debug}\nsandbox: {max_sandboxes: 3}\nserver: {port: 4000}")
    environ = {
        "SANDBOXRUNNER_SANDBOX_MAX_SANDBOXES": "4",
        "SANDBOXRUNNER_SERVER_PORT": "4001",
        "SANDBOXRUNNER_TOOLS_ENABLED_TOOLS": "run_code, read_file",
        "SANDBOXRUNNER_TOOLS_STREAMING_FLUSH_INTERVAL": "250ms",
        "SANDBOXRUNNER_SANDBOX_ENVIRONMENT": '{"A": "b"}',
        "SANDBOXRUNNER_TOOLS_ENABLE_STREAMING": "false",
    }
    config = load_config(environ, file, {"server.port": 4002})
    assert (config.logging.level, config.sandbox.max_sandboxes, config.server.port) == ("debug", 4, 4002)
    assert config.tools.enabled_tools == ("run_code", "read_file") and config.tools.streaming.flush_interval == 0.25
    assert config.sandbox.environment == {"A": "b"} and not config.tools.enable_streaming
    assert len(keys()) > 60


@pytest.mark.requirement("mcp-1.03")
def test_the_file_is_looked_for_where_it_is_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    for folder, port in ((home / ".config" / "sandboxrunner", 1), (here / "config", 2), (here, 3)):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mcp-sandboxd.yaml").write_text(f"server: {{port: {port}}}")
        assert load_config({"HOME": str(home)}).server.port == port


@pytest.mark.requirement("mcp-2.04")
def test_tools_are_switched_on_and_off() -> None:
    def named(**tools: object) -> set[str]:
        return set(enabled_tools(validate({"tools": tools}, "test")))

    assert named(enabled_tools=[]) == set(DEFAULT_TOOLS)
    assert named(enabled_tools=["all"], disabled_tools=["run_shell"]) == set(all_tools()) - {"run_shell"}
    assert named(disabled_tools=["exec_command"]) == set(DEFAULT_TOOLS) - {"exec_command"}
    with pytest.raises(InvalidRequest, match="run_cobol"):
        named(enabled_tools=["run_cobol"])


@pytest.mark.requirement("mcp-1.01")
@pytest.mark.parametrize("words", [["--version"], ["version"]])
def test_the_version_is_told(words: list[str]) -> None:
    told = CliRunner().invoke(build(), words)
    assert told.exit_code == 0 and told.output.startswith("mcp-sandboxd ")
