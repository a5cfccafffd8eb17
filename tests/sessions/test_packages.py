"""Requirements and command lines of package clients."""

from __future__ import annotations

import json

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Dependency
from sandbox_runtime.sessions.packages import requirements
from sandbox_runtime.sessions.packages.requirements import NODE, PYTHON


@pytest.mark.parametrize(
    ("name", "version", "asked"),
    [
        ("pandas", "", "pandas"),
        ("pandas", "2.3.3", "pandas==2.3.3"),
        ("pandas", "==2.3.3", "pandas==2.3.3"),
        ("pandas", ">=2.0,<3", "pandas>=2.0,<3"),
        ("ruamel.yaml", "~=0.18", "ruamel.yaml~=0.18"),
        ("typing_extensions", "", "typing_extensions"),
        ("py7zr", "", "py7zr"),
        ("h5py", "3.11.0", "h5py==3.11.0"),
    ],
)
def test_names_and_versions_become_requirements(name: str, version: str, asked: str) -> None:
    assert requirements.to_requirement(Dependency(name, version), PYTHON) == asked


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("../evil", "path"),
        ("/etc/passwd", "path"),
        ("https://example.org/x.whl", "path"),
        ("git+ssh", "letters"),
        ("name; rm -rf", "letters"),
        ("--index-url", "letters"),
        ("-r", "letters"),
        ("a" * 101, "100"),
        ("pandas2.3.3", "'pandas' and the version to '2.3.3'"),
        ("scikit-learn-1.5.0", "'scikit-learn' and the version to '1.5.0'"),
    ],
)
def test_names_that_are_none_are_refused_with_advice(name: str, advice: str) -> None:
    with pytest.raises(InvalidRequest, match=advice):
        requirements.to_requirement(Dependency(name), PYTHON)


@pytest.mark.parametrize("version", ["latest && id", "@ file:///etc", "1.0 --pre", "==", ">=1;python_version"])
def test_versions_that_are_none_are_refused(version: str) -> None:
    with pytest.raises(InvalidRequest, match="not a version"):
        requirements.to_requirement(Dependency("pandas", version), PYTHON)


def test_node_packages_have_scopes_and_versions_of_their_own() -> None:
    assert requirements.to_requirement(Dependency("@types/node", "20.1.0"), NODE) == "@types/node@20.1.0"
    assert requirements.to_requirement(Dependency("lodash", "^4.17"), NODE) == "lodash@^4.17"
    with pytest.raises(InvalidRequest):
        requirements.to_requirement(Dependency("@types/node"), PYTHON)


@pytest.mark.parametrize("url", ["ftp://x", "file:///etc/passwd", "https://", "https://x y", "javascript:1"])
def test_an_index_is_an_address_of_the_web(url: str) -> None:
    with pytest.raises(InvalidRequest, match="http"):
        requirements.check_index(url)


def test_what_is_asked_cannot_become_a_flag() -> None:
    argv = requirements.pip_install("/py", ["pandas==2"], "https://index/simple")
    assert argv[argv.index("--") + 1 :] == ("pandas==2",) and "--index-url" in argv


def test_npm_is_started_by_its_own_file_with_a_bounded_patience() -> None:
    argv = requirements.npm_install("/t/node/bin", ["lodash@4"], "https://registry/")
    assert argv[:3] == ("/t/node/bin/node", "/t/node/lib/node_modules/npm/bin/npm-cli.js", "install")
    assert {"--fetch-retries=2", "--registry=https://registry/"} < {*argv} and argv[argv.index("--") + 1 :] == ("lodash@4",)


def test_what_a_client_lists_is_a_claim() -> None:
    good = requirements.parse_pip_list(
        json.dumps([{"name": "a", "version": "1"}, {"name": 5}, "x", {"name": "b" * 999, "version": "1"}]), 7
    )
    assert [(one.name, one.version, one.installed_ms) for one in good] == [("a", "1", 7)]
    assert requirements.parse_pip_list("nonsense", 7) == requirements.parse_npm_list("[]", 7) == ()
    listed = requirements.parse_npm_list(json.dumps({"dependencies": {"lodash": {"version": "4.17.21"}, "bad": 5}}), 7)
    assert [(one.name, one.version) for one in listed] == [("lodash", "4.17.21")]
