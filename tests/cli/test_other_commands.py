"""`sandbox settings`, `version` and `docs`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.commands import sandbox

from sandbox_runtime.cli.exit_codes import ENDING_EXIT_CODES, ERROR_EXIT_CODES
from sandbox_runtime.cli.reference import generate_pages
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import Ending
from sandbox_runtime.settings import all_settings

REFERENCE = Path(__file__).parents[2] / "docs/reference"


def test_the_version_is_that_of_the_repository() -> None:
    version = (REFERENCE.parents[1] / "VERSION").read_text().strip()
    assert sandbox("version").stdout.decode() == f"{version}\n"


def test_settings_show_every_value_and_where_it_came_from(tmp_path: Path) -> None:
    (tmp_path / "sandbox.toml").write_text("pool_max = 5\n")
    done = sandbox("settings", "--json", "--set", "port=99", cwd=tmp_path, SANDBOX_POOL_SIZE="3", SANDBOX_API_KEY="hush")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert set(rows) == set(all_settings())
    seen = {name: (rows[name]["value"], rows[name]["source"]) for name in ("pool_size", "pool_max", "port", "host")}
    assert seen == {
        "pool_size": (3, "environment SANDBOX_POOL_SIZE"),
        "pool_max": (5, "file sandbox.toml"),
        "port": (99, "flag"),
        "host": ("127.0.0.1", "default"),
    }
    assert b"hush" not in done.stdout


def test_the_table_of_settings_masks_secrets_and_shows_units() -> None:
    done = sandbox("settings", SANDBOX_API_KEY="hush")
    text = done.stdout.decode()
    assert "hush" not in text and "********" in text
    assert "131072" in text and "KB" in text and "environment SANDBOX_API_KEY" in text


def test_a_bad_setting_is_told_in_one_line() -> None:
    done = sandbox("settings", SANDBOX_PORT="x")
    assert done.returncode == 64 and b"environment SANDBOX_PORT" in done.stderr and b"Traceback" not in done.stderr


def test_the_reference_pages_are_up_to_date() -> None:
    stale = [name for name, text in generate_pages().items() if (REFERENCE / name).read_text() != text]
    assert not stale, "run `sandbox docs --write`"


def test_docs_tells_what_is_stale_and_writes_it(tmp_path: Path) -> None:
    folder = str(tmp_path / "reference")
    stale = sandbox("docs", "--folder", folder)
    assert stale.returncode == 73 and b"settings.md" in stale.stderr
    assert sandbox("docs", "--folder", folder, "--write").returncode == 0
    assert sandbox("docs", "--folder", folder).returncode == 0
    assert (tmp_path / "reference/settings.md").read_text() == (REFERENCE / "settings.md").read_text()


def test_every_error_class_and_every_ending_has_an_exit_code() -> None:
    def below(kind: type[SandboxError]) -> set[type[SandboxError]]:
        of_the_tree = [found for found in kind.__subclasses__() if found.__module__ == SandboxError.__module__]
        return {kind}.union(*(below(found) for found in of_the_tree))

    assert set(ERROR_EXIT_CODES) == below(SandboxError)
    assert set(ENDING_EXIT_CODES) == set(Ending) - {Ending.exited, Ending.signaled}
