"""Precompiled headers make a compile faster and never different."""

from __future__ import annotations

import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest

FLAGS = ["-std=c++17"]
PROGRAMS = {
    "plain": '#include <bits/stdc++.h>\nint main() { std::map<std::string, int> m{{"", 1}}; std::cout << m.size() << __LINE__; }',
    "other header": "#include <iostream>\n#include <vector>\nint main() { std::cout << std::vector<int>(3).size(); }",
    "pragmas first": '#pragma GCC optimize("O2")\n#include <bits/stdc++.h>\nint main() { std::cout << 1; }',
    "debug mode first": "#define _GLIBCXX_DEBUG\n#include <vector>\nint main() { std::vector<int> v(1); return v[3]; }",
    "assertions off first": "#define NDEBUG\n#include <bits/stdc++.h>\nint main() { assert(false); }",
    "a macro of a name inside": "#define max 3\n#include <vector>\nint main() { return max; }",
    "names are not there by themselves": "#include <string>\nint main() { std::unordered_set<int> s; }",
    "an error": "#include <bits/stdc++.h>\nint main() { std::vector<int> v = nothing(); }",
    "a warning": "#include <string>\nint f() { }\nint main() { f(); return 0; }",
    "one of several again": "#include <algorithm>\n#include <bits/stdc++.h>\nint main() { std::cout << 1; }",
    "twice": "#include <vector>\n#include <vector>\nint main() { return std::vector<int>(3).size(); }",
    "quoted": '#include "bits/stdc++.h"\nint main() { std::puts("x"); }',
}


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("there is no g++ on this machine")
    folder = tmp_path_factory.mktemp("cpp") / "headers"
    with resources.as_file(resources.files("sandbox_runtime.languages").joinpath("catalog/assets/cpp/precompile.sh")) as script:
        subprocess.run(["bash", str(script), str(folder), *FLAGS], check=True, timeout=110)
    return folder


def compiled(source: Path, folder: Path, *more: str) -> tuple[int, str, bytes]:
    """How g++ ended, what it said and what it made, always under the same name."""
    made = folder / "test"
    made.unlink(missing_ok=True)
    ended = subprocess.run(
        ["g++", *FLAGS, *more, source.name, "-o", str(made)], cwd=source.parent, capture_output=True, text=True, timeout=60
    )
    return ended.returncode, ended.stderr, made.read_bytes() if made.exists() else b""


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_comes_out_is_the_same_byte_by_byte(headers: Path, tmp_path: Path, name: str) -> None:
    source = tmp_path / "main.cpp"
    source.write_text(PROGRAMS[name])
    code, said, made = compiled(source, tmp_path, f"-I{headers}")
    assert (code, without_our_step(said, headers), made) == compiled(source, tmp_path)


def without_our_step(said: str, headers: Path) -> str:
    """Where g++ tells through which files it came to an error, the one beside the precompiled header is among them."""
    return "".join(line for line in said.splitlines(keepends=True) if str(headers) not in line)


def test_the_header_that_comes_first_is_not_read_again(headers: Path, tmp_path: Path) -> None:
    source = tmp_path / "main.cpp"
    for first in ("bits/stdc++.h", "iostream", "vector"):
        source.write_text(f"#include <{first}>\nint main() {{}}")
        _, said, _ = compiled(source, tmp_path, f"-I{headers}", "-H")
        assert f"! {headers}/{first}.gch" in said


def test_with_other_flags_or_without_the_folder_the_plain_header_is_read(headers: Path, tmp_path: Path) -> None:
    source = tmp_path / "main.cpp"
    source.write_text("#include <bits/stdc++.h>\nstatic_assert(__cplusplus > 201703);\nint main() {}")
    assert compiled(source, tmp_path, f"-I{headers}", "-std=c++20")[:2] == (0, "")
    assert compiled(source, tmp_path, f"-I{headers}/nowhere", "-std=c++20")[:2] == (0, "")


def test_boxes_can_read_them(headers: Path) -> None:
    assert all(path.stat().st_mode & 0o004 for path in headers.rglob("*.gch"))
    assert not list(headers.parent.glob("headers.*"))
