"""The nouns that are remembered: what cannot be kept cannot be made."""

from __future__ import annotations

import dataclasses

import pytest
from tests.store import samples

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import ApiKey, Blame, Ending, PoolSizes, Resources, SessionState
from sandbox_runtime.model.access import hash_key
from sandbox_runtime.model.execution import ENDED_EXECUTION_STATES, truncate_text
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.model.session import ENDED_SESSION_STATES, LIVE_SESSION_STATES


@pytest.mark.parametrize("key", ["", "x" * 256, ".", "..", "a/b", "a\\b", "a b", "a\nb", "a\0b", "\u200b", "\ud800"])
def test_an_id_that_could_be_a_path_or_not_be_seen_is_refused(key: str) -> None:
    with pytest.raises(InvalidRequest):
        samples.session(key)


@pytest.mark.parametrize("key", ["x", "x" * 255, "sess_20260101_0123abcd", "a:b@c.d~e", "Größe"])
def test_an_id_may_be_anything_else(key: str) -> None:
    assert samples.session(key).id == key


@pytest.mark.parametrize(
    "changes",
    [
        {"env": {f"K{n}": "" for n in range(65)}},
        {"env": {"K": "x" * 10_240}},
        {"env": {"A=B": "x"}},
        {"env": {"": "x"}},
        {"env": {"K": "\0"}},
        {"timeout_s": 0},
        {"timeout_s": float("nan")},
        {"timeout_s": True},
        {"lifetime_s": 10**9},
        {"owner": "two words"},
        {"error": "x" * 65_537},
        {"error": "\ud800"},
    ],
)
@pytest.mark.requirement("control_plane-3.10")
def test_a_session_out_of_bounds_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        samples.session(**changes)


@pytest.mark.parametrize("field", ["code", "stdout", "stderr", "stdin", "event_json", "return_value_json", "displays_json"])
@pytest.mark.requirement("control_plane-3.10")
def test_every_text_of_an_execution_has_a_largest_size_in_bytes(field: str) -> None:
    assert samples.execution(**{field: "é" * (MIB // 2)})
    with pytest.raises(InvalidRequest, match=field):
        samples.execution(**{field: "é" * (MIB // 2) + "x"})


def test_what_is_kept_of_an_output_fits_and_tells_what_does_not() -> None:
    assert truncate_text("short") == ("short", 0)
    kept, dropped = truncate_text("é" * MIB)
    samples.execution(stdout=kept, stdout_dropped_bytes=dropped)
    assert kept.startswith("é") and kept.endswith("é") and f"[... {dropped} bytes dropped ...]" in kept
    assert kept.count("é") * 2 + dropped == 2 * MIB


def test_who_is_to_blame_follows_from_the_ending() -> None:
    assert samples.execution().blame is None
    assert samples.execution(ending=Ending.lost).blame is Blame.platform


def test_states_are_either_live_or_ended() -> None:
    assert {*LIVE_SESSION_STATES, *ENDED_SESSION_STATES} == set(SessionState)
    assert not {*LIVE_SESSION_STATES} & {*ENDED_SESSION_STATES}
    assert [state.value for state in ENDED_EXECUTION_STATES] == ["completed", "failed", "timeout", "crashed", "cancelled"]


@pytest.mark.parametrize(
    "changes", [{"resources": Resources(memory_bytes=300 * MIB + 1)}, {"packages": ("x",) * 501}, {"name": " padded "}]
)
def test_a_template_out_of_bounds_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        samples.template(**changes)


def test_a_pool_has_no_fewer_boxes_than_none() -> None:
    with pytest.raises(InvalidRequest, match="pool size ephemeral"):
        PoolSizes(ephemeral=-1)


def test_a_key_keeps_its_digest_and_never_itself() -> None:
    key = samples.api_key(digest=hash_key("secret"))
    assert "secret" not in repr(key)
    with pytest.raises(InvalidRequest, match="never the key itself"):
        dataclasses.replace(key, digest="secret")


@pytest.mark.parametrize(
    ("expires_ms", "revoked_ms", "opens"), [(None, None, True), (11, None, True), (10, None, False), (None, 1, False)]
)
def test_a_key_opens_until_it_expires_or_is_revoked(expires_ms: int | None, revoked_ms: int | None, opens: bool) -> None:
    key = ApiKey(id="k", owner="ann", digest=hash_key("x"), created_ms=0, expires_ms=expires_ms, revoked_ms=revoked_ms)
    assert key.is_valid(10) is opens
