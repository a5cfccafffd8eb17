"""`sandbox keys`: a key is shown once, kept as a digest, and opens nothing once it is revoked."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.commands import sandbox


def keys(folder: Path, *words: str) -> tuple[int, str]:
    done = sandbox("keys", *words, "--set", f"state_dir={folder}")
    return done.returncode, (done.stdout + done.stderr).decode()


def test_a_key_is_made_listed_and_revoked(tmp_path: Path) -> None:
    code, text = keys(tmp_path, "create", "alice", "--name", "laptop", "--scope", "rate:100", "--days", "30", "--json")
    made = json.loads(text)
    assert code == 0 and made["key"].startswith("sbx_") and made["owner"] == "alice" and made["expires_at"]
    rows = json.loads(keys(tmp_path, "list", "--json")[1])
    assert [(row["id"], row["state"], row["scopes"]) for row in rows] == [(made["id"], "open", ["rate:100"])]
    assert made["key"] not in keys(tmp_path, "list")[1]
    assert keys(tmp_path, "revoke", made["id"])[0] == 0
    assert json.loads(keys(tmp_path, "list", "--json", "--owner", "alice")[1])[0]["state"] == "revoked"
    assert json.loads(keys(tmp_path, "list", "--json", "--owner", "bob")[1]) == []


def test_the_key_itself_is_nowhere_in_the_database(tmp_path: Path) -> None:
    made = json.loads(keys(tmp_path, "create", "alice", "--json")[1])
    kept = b"".join(path.read_bytes() for path in (tmp_path / "store").iterdir() if path.is_file())
    assert made["id"].encode() in kept and made["key"].encode() not in kept


def test_what_is_misspelt_is_refused(tmp_path: Path) -> None:
    for words in (("create", "alice", "--scope", "amdin"), ("create", "alice", "--scope", "rate:0"), ("create", "a b")):
        code, text = keys(tmp_path, *words)
        assert code == 64 and text
    assert keys(tmp_path, "revoke", "key_none")[0] == 66
