"""Language files: strict, and every refusal names the file and the place."""

from __future__ import annotations

import pytest
from tests.languages.language_file import GOOD

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.reader import read_language


def test_a_good_file_is_read() -> None:
    language = read_language(GOOD, "awk.toml")
    assert (language.name, language.aliases, language.run.argv) == ("awk", ("gawk",), ("awk", "-f", "{source}"))
    assert language.run.env == (("LC_ALL", "C"), ("HERE", "{workdir}"))
    assert language.run.min_limits == (("processes", 32),)
    assert language.compile is None and not language.warm


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "awk"', "", "name is missing"),
        ('name = "awk"', 'name = "a b"', "letters"),
        ('name = "awk"', "name = 3", "name must be text"),
        ('title = "AWK"', 'titel = "AWK"', "titel is not a known key; allowed: .*title"),
        ('source = "main.awk"', 'source = "../main.awk"', "plain file name"),
        ('source = "main.awk"', 'source = ""', "source must not be empty"),
        ('aliases = ["gawk"]', 'aliases = "gawk"', "aliases must be a list"),
        ('"{source}"]', '"{sources}"]', r"\{sources\}, which is not a placeholder"),
        ('"{source}"]', '"{binary}"]', "sets no binary"),
        ('argv = ["awk", "-f", "{source}"]', "argv = []", "run.argv must not be empty"),
        ('argv = ["awk", "-f", "{source}"]', 'argv = "awk -f"', "run.argv must be a list"),
        ('env = { LC_ALL = "C", HERE = "{workdir}" }', "env = { LC_ALL = 1 }", "must be text"),
        ("processes = 32", "wall_s = 32", "run.at_least.wall_s is not a known key; it must be .processes"),
        ("processes = 32", "processes = 0", "run.at_least.processes must be greater than or equal to 1"),
        ("[check]", "[czech]", "czech is not a known key"),
        ('stdin = "x"', "", "check.stdin is missing"),
        ('needs = "awk"', 'needs = "awk"\nwarm = "yes"', "true or false"),
        ('version = ["awk"', 'version = ["{source}"', "version cannot use"),
        ('version = ["awk"', 'version = ["{jars}"', "version cannot use"),
        ('needs = "awk"', 'needs = "awk"\ngroup = "huge"', "group must be .major., .minor., .gpu. or .more."),
        ('needs = "awk"', 'needs = "awk"\ntransform = "rot13"', "transform: must be one of fixed_name"),
        ('needs = "awk"', 'needs = "awk"\nassets = ["x.cfg"]', "asset 'x.cfg' cannot be read"),
        ('needs = "awk"', 'needs = "awk"\nassets = ["a/b/x.cfg"]', "plain file name"),
        ('needs = "awk"', 'needs = "awk"\nlinks = { "a/b" = "/x" }', "plain file name"),
        ('needs = "awk"', 'needs = "awk"\nlinks = { a = "{source}" }', r"\{source\}, which is not a placeholder"),
        ("[check]", "[install]\nnpm = ['x@1']\n[check]", "install: npm needs folder"),
        ("[check]", "[install]\nbrew = ['x']\n[check]", "install.brew is not a known key"),
        ("[check]", "[install]\nafter = ['x']\n[check]", r"install.after\[0\] must be a list"),
        ("[check]", "[install]\nafter = [['{source}']]\n[check]", r"\{source\}, which is not a placeholder"),
        ("[check]", "[install]\nmegabytes = -1\n[check]", "install.megabytes must be greater than or equal to 1"),
        ("at_least = {", "together = 0\nat_least = {", "run.together must be greater than or equal to 1"),
        ("at_least = {", "linked = ['-lm']\nat_least = {", "run.linked is not a known key"),
        ("[run]", "[run", "not valid TOML"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(old: str, new: str, told: str) -> None:
    assert old in GOOD
    with pytest.raises(InvalidRequest, match=rf"awk\.toml.*{told}"):
        read_language(GOOD.replace(old, new), "awk.toml")


WITH_INSTALL = GOOD.replace(
    "[run]", 'links = { lib = "{toolchains}/awk/lib" }\ntransform = "fixed_name"\ngroup = "minor"\n[run]'
).replace(
    "[check]",
    """[compile]
argv = ["awkc", "{source}"]
together = 12

[install]
apt = ["gawk"]
npm = ["awk@1.0.0"]
after = [["{toolchains}/awk/bin/warm", "--all"]]
folder = "awk"
megabytes = 3

[check]""",
)


def test_how_a_toolchain_is_installed_is_read() -> None:
    language = read_language(WITH_INSTALL, "awk.toml")
    install = language.install
    assert (install.apt, install.npm, install.folder, install.megabytes) == (("gawk",), ("awk@1.0.0",), "awk", 3)
    assert install.after == (("{toolchains}/awk/bin/warm", "--all"),)
    assert (language.group, language.transform) == ("minor", "fixed_name")
    assert language.links == (("lib", "{toolchains}/awk/lib"),)


def test_a_language_that_names_the_toolchains_sees_them() -> None:
    assert read_language(WITH_INSTALL, "awk.toml").toolchain
    assert not read_language(GOOD, "awk.toml").toolchain
    assert read_language(GOOD.replace('needs = "awk"', 'needs = "awk"\ntoolchain = true'), "awk.toml").toolchain
    assert read_language(GOOD.replace('version = ["awk"', 'version = ["{toolchains}/awk"'), "awk.toml").toolchain


def test_builds_may_be_kept_unless_the_row_says_no() -> None:
    kept = read_language(WITH_INSTALL, "awk.toml").compile
    never = read_language(WITH_INSTALL.replace("together = 12", "cache_build = false"), "awk.toml").compile
    assert kept and kept.cache_build and kept.max_concurrent == 12
    assert never and not never.cache_build


def test_assets_are_read_from_the_folder_of_the_language_or_of_another() -> None:
    there = {("awk", "a.cfg"): b"1", ("go", "b.cfg"): b"2"}
    row = GOOD.replace('needs = "awk"', 'needs = "awk"\nassets = ["a.cfg", "go/b.cfg"]')
    language = read_language(row, "awk.toml", lambda folder, name: there[folder, name])
    assert [(file.name, file.content) for file in language.assets] == [("a.cfg", b"1"), ("b.cfg", b"2")]


def test_a_check_may_come_with_files() -> None:
    row = GOOD.replace('stdout = "x"', 'stdout = "x"\nfiles = { "run.py" = "print()" }')
    assert [(file.name, file.content) for file in read_language(row, "x").check.files] == [("run.py", b"print()")]
