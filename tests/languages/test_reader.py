"""Language files: strict, and every refusal names the file and the place."""

from __future__ import annotations

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.reader import read_language

GOOD = """
name = "awk"
title = "AWK"
aliases = ["gawk"]
extensions = ["awk"]
source = "main.awk"
version = ["awk", "--version"]
needs = "awk"

[run]
argv = ["awk", "-f", "{source}"]
env = { LC_ALL = "C", HERE = "{workdir}" }
at_least = { processes = 32 }

[check]
code = "{ print }"
stdin = "x"
stdout = "x"
"""


def test_a_good_file_is_read() -> None:
    language = read_language(GOOD, "awk.toml")
    assert (language.name, language.aliases, language.run.argv) == ("awk", ("gawk",), ("awk", "-f", "{source}"))
    assert language.run.env == (("LC_ALL", "C"), ("HERE", "{workdir}"))
    assert language.run.at_least == (("processes", 32),)
    assert language.compile is None and not language.warm


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "awk"', "", "name is missing"),
        ('name = "awk"', 'name = "a b"', "letters"),
        ('name = "awk"', "name = 3", "must be a text"),
        ('title = "AWK"', 'titel = "AWK"', "titel is no known key"),
        ('source = "main.awk"', 'source = "../main.awk"', "plain file name"),
        ('source = "main.awk"', 'source = ""', "not empty"),
        ('aliases = ["gawk"]', 'aliases = "gawk"', "list of texts"),
        ('"{source}"]', '"{sources}"]', r"\{sources\}, which is no placeholder"),
        ('"{source}"]', '"{binary}"]', "sets no binary"),
        ('argv = ["awk", "-f", "{source}"]', "argv = []", "program first"),
        ('argv = ["awk", "-f", "{source}"]', 'argv = "awk -f"', "list of texts"),
        ('env = { LC_ALL = "C", HERE = "{workdir}" }', "env = { LC_ALL = 1 }", "must be text"),
        ("processes = 32", "wall_s = 32", "wall_s is no known key"),
        ("processes = 32", "processes = 0", "above 0"),
        ("[check]", "[czech]", "czech is no known key"),
        ('stdin = "x"', "", "check.stdin is missing"),
        ('needs = "awk"', 'needs = "awk"\nwarm = "yes"', "true or false"),
        ('version = ["awk"', 'version = ["{source}"', "version cannot use"),
        ("[run]", "[run", "not valid TOML"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(old: str, new: str, told: str) -> None:
    assert old in GOOD
    with pytest.raises(InvalidRequest, match=rf"awk\.toml.*{told}"):
        read_language(GOOD.replace(old, new), "awk.toml")
