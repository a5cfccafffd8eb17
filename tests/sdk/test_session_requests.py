"""What is sent, and what is refused before anything is sent."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.sdk import Dependency, Sandbox, SandboxClient, SessionConfig, WorkspaceConfig
from sandbox_runtime.sdk.execution_bodies import execution_body
from sandbox_runtime.sdk.local import atomic_write, open_source, source_name
from sandbox_runtime.sdk.requests import quote_name, quote_path
from sandbox_runtime.sdk.session_config import parse_config, session_body


def test_only_what_was_set_is_sent() -> None:
    config = parse_config({"cpu": "2"}, {"timeout": 10})
    usual = {"template_id": "python-basic", "mode": "ephemeral", "env_vars": {}, "dependencies": []}
    assert session_body(config, "mine") == {**usual, "cpu": "2", "timeout": 10, "id": "mine"}


def test_words_given_by_name_count_above_the_configuration() -> None:
    config = parse_config(SessionConfig(memory="1Gi", timeout=5), {"timeout": 7, "dependencies": [Dependency(name="rich")]})
    assert isinstance(config, SessionConfig) and (config.memory, config.timeout) == ("1Gi", 7)
    assert config.dependencies[0].name == "rich"


@pytest.mark.parametrize("word", [{"allow_network": False}, {"cpu_quota": 2}, {"memory_limit": 131072}, {"size": "50M"}])
def test_the_words_of_the_workspace_interface_are_understood(word: dict[str, object]) -> None:
    config = parse_config({**word, "timeout": 10}, {})
    assert isinstance(config, WorkspaceConfig) and session_body(config, "mine") == {**word, "timeout": 10}


@pytest.mark.parametrize("given", [{"memery": "1Gi"}, {"mode": "eternal"}, {"allow_network": True, "template_id": "x"}])
def test_a_word_that_is_none_is_told(given: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest, match=next(reversed(given))):
        parse_config(given, {})


@pytest.mark.parametrize(("given", "sent"), [(0.2, 1), (1, 1), (1.5, 2), (30, 30)])
def test_times_are_rounded_up_to_whole_seconds(given: float, sent: int) -> None:
    assert execution_body("x", "python", given, None, None, None) == {"code": "x", "language": "python", "timeout": sent}


@pytest.mark.parametrize(("name", "sent"), [("a/b", "a%2Fb"), ("../x", "..%2Fx"), ("a?b#c", "a%3Fb%23c"), ("a\r\nb", "a%0D%0Ab")])
def test_a_name_stays_one_part_of_the_address(name: str, sent: str) -> None:
    assert quote_name(name, "session") == sent


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 2000])
def test_a_name_that_is_none_is_not_sent(name: str) -> None:
    with pytest.raises(InvalidRequest, match="session"):
        quote_name(name, "session")


@pytest.mark.parametrize(
    ("path", "sent"), [("/workspace/a b.txt", "a%20b.txt"), ("./a//b", "a/b"), ("/a", "a"), ("ü?", "%C3%BC%3F")]
)
def test_paths_are_told_from_the_workspace_on(path: str, sent: str) -> None:
    assert quote_path(path) == sent


@pytest.mark.parametrize("path", ["", "/", "..", "a/../../b", "."])
def test_a_path_that_leads_out_is_not_sent(path: str) -> None:
    with pytest.raises(InvalidRequest, match="workspace"):
        quote_path(path)


def test_a_download_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "data"
    target.write_bytes(b"old")
    with pytest.raises(RuntimeError), atomic_write(target) as file:
        file.write(b"half")
        raise RuntimeError
    assert target.read_bytes() == b"old" and list(tmp_path.iterdir()) == [target]
    with atomic_write(target) as file:
        file.write(b"new")
    assert target.read_bytes() == b"new"


def test_sources_of_uploads_are_paths_files_or_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    for source in (tmp_path / "a", str(tmp_path / "a"), b"x", io.BytesIO(b"x")):
        with open_source(source) as file:
            assert file.read() == b"x"
    assert source_name(tmp_path / "a") == "a"
    with pytest.raises(InvalidRequest, match="has no file name"):
        source_name(b"x")
    with pytest.raises(InvalidRequest, match="cannot read"), open_source(tmp_path / "none"):
        pass


def test_a_sandbox_that_is_not_open_says_so() -> None:
    with pytest.raises(Conflict, match="not open"):
        _ = Sandbox().id


@pytest.mark.parametrize("wrong", [{"base_url": "localhost"}, {"max_attempts": 0}, {"timeout_s": 0}])
def test_a_client_that_cannot_work_is_refused_at_once(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        SandboxClient(**wrong)  # type: ignore[arg-type]
