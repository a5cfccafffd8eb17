"""The resolver of Maven's packages takes no jar whose checksum it cannot compare."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import pytest
from tests.mcp.registries import served

from sandbox_runtime.languages.packages.inside.maven import Repository, Requirement
from sandbox_runtime.languages.packages.inside.registry_client import RegistryError

JAR = b"PK jar"
PLACE = "org/example/acorn/1.0/acorn-1.0.jar"
GOOD = {kind: hashlib.new(kind, JAR).hexdigest().encode() for kind in ("sha512", "sha256", "sha1")}


def fetched(checksums: Mapping[str, bytes]) -> bytes:
    files = {PLACE: JAR, **{f"{PLACE}.{kind}": text for kind, text in checksums.items()}}
    with served("127.0.0.1", files) as url:
        return Repository(url).jar(Requirement("org.example", "acorn", "1.0"))


@pytest.mark.parametrize("kind", GOOD)
def test_any_checksum_that_fits_will_do(kind: str) -> None:
    assert fetched({kind: GOOD[kind] + b"  acorn-1.0.jar\n"}) == JAR


@pytest.mark.parametrize("checksums", [{}, {"sha1": b""}, {"md5": hashlib.md5(JAR).hexdigest().encode()}])
def test_a_jar_without_a_checksum_is_refused(checksums: dict[str, bytes]) -> None:
    with pytest.raises(RegistryError, match="no checksum of org"):
        fetched(checksums)


@pytest.mark.parametrize("kind", GOOD)
def test_the_best_checksum_decides(kind: str) -> None:
    wrong = {**{weaker: GOOD[weaker] for weaker in list(GOOD)[list(GOOD).index(kind) + 1 :]}, kind: b"0" * len(GOOD[kind])}
    with pytest.raises(RegistryError, match="not what its checksum says"):
        fetched(wrong)
