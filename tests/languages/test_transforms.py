"""What some languages do to code before it becomes a file."""

from __future__ import annotations

import dataclasses
import time

import pytest
from tests.languages.language_file import GOOD

from sandbox_runtime.languages.reader import read_language
from sandbox_runtime.languages.transforms import TRANSFORMS, PreparedSource, Refusal
from sandbox_runtime.model import File, Job

ROW = read_language(GOOD, "awk.toml")


def made(transform: str, source: str, code: str, *files: File) -> PreparedSource:
    language = dataclasses.replace(ROW, source=source)
    program = TRANSFORMS[transform](language, Job("x", code, files=files))
    assert isinstance(program, PreparedSource)
    return program


def test_php_code_gets_its_opening_tag_where_it_is_missing() -> None:
    assert made("php_tag", "main.php", "\n  echo 1;").code == "<?php\necho 1;"
    assert made("php_tag", "main.php", "\n<?php echo 1;").code == "<?php echo 1;"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("public class Tests { }", "Tests"),
        ("import a.b;\npublic final class A1 {}\nclass B {}", "A1"),
        ("class Hidden {}", "Main"),
        ("// public class No\n/* public class Not */ public  interface Yes {}", "Yes"),
        ('class A { String s = "public class No"; }', "Main"),
        ("public record Point(int x) {}", "Point"),
    ],
)
def test_a_java_file_is_named_after_its_public_class(code: str, name: str) -> None:
    program = made("java_public_class", "Main.java", code, File("Main.java", b"theirs"))
    assert (program.source, program.main) == (f"{name}.java", name)


def test_no_java_file_is_made_of_no_code() -> None:
    assert made("java_public_class", "Main.java", " \n").source == ""


def test_the_first_scala_object_is_the_program() -> None:
    program = made(
        "scala_object", "main.scala", "// object No\nobject Main extends App {}\nobject Other", File("main.scala", b"")
    )
    assert (program.source, program.main) == ("main_1.scala", "Main")


def test_scala_code_without_an_object_is_refused() -> None:
    assert TRANSFORMS["scala_object"](ROW, Job("x", "class A")) == Refusal("Object name not found.")


def test_a_fixed_name_is_kept_although_the_caller_brings_the_same() -> None:
    assert made("fixed_name", "Main.java", "x", File("Main.java", b"")).source == "Main.java"


def test_a_project_has_no_source() -> None:
    assert made("no_source", "main.cu", "ignored") == PreparedSource("", "")


@pytest.mark.parametrize("piece", ["/*", '"""', '\\"', '"', "public ", "public\n", "public final ", "object ", "'\\"])
def test_hostile_code_is_looked_through_in_linear_time(piece: str) -> None:
    """Quadratic time would take hours for this: the bound only tells the two apart."""
    code = piece * (4 * 1024 * 1024 // len(piece))
    began = time.monotonic()
    for name in ("java_public_class", "scala_object"):
        TRANSFORMS[name](ROW, Job("x", code))
    assert time.monotonic() - began < 60
