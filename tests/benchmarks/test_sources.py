"""Texts of other languages: Go files are joined into one, Java texts are split into one file for each type."""

from __future__ import annotations

from sandbox_runtime.benchmarks.sources.go import merge_go_files
from sandbox_runtime.benchmarks.sources.java import blocks_of, junit_files, type_files, types_of

TEST = 'package main\n\nimport (\n    "testing"\n    "github.com/stretchr/testify/assert"\n)\n'
CODE = 'import "math"\nimport (\n\t"sort"\n)\n\nfunc Half(n float64) float64 { return math.Floor(n / 2) }\n'


def test_a_go_file_has_one_package_line_and_each_import_once() -> None:
    found = merge_go_files([TEST, CODE, 'import "math"\nfunc TestHalf(t *testing.T) { assert.Equal(t, 1.0, Half(2)) }'])
    assert found.count("package main") == 1
    assert found.count('"math"') == 1
    assert found.index('"math"') < found.index("func Half")
    assert "import (" not in found[found.index("func Half") :]


def test_imports_that_nothing_uses_are_dropped_on_request() -> None:
    found = merge_go_files([TEST, CODE, "func TestHalf(t *testing.T) {}"], drop_unused=True)
    assert '"testing"' in found and '"math"' in found
    assert "testify" not in found and '"sort"' not in found


def test_a_forgotten_import_of_the_standard_library_is_added_on_request() -> None:
    found = merge_go_files(["func Shout(s string) string { return strings.ToUpper(s) + strconv.Itoa(1) }"], add_standard=True)
    assert '"strings"' in found and '"strconv"' in found
    assert found.startswith("package main\n")


def test_an_import_is_used_by_its_alias_or_by_the_name_before_its_version() -> None:
    code = 'import (\n\tm "math"\n\t"example.org/yaml/v3"\n\t_ "embed"\n)\nvar a = m.Pi\nvar b = yaml.Node{}\n'
    found = merge_go_files([code], drop_unused=True)
    assert 'm "math"' in found and '"example.org/yaml/v3"' in found and '_ "embed"' in found


JAVA = """\
package somewhere;
import java.util.List;

/** A { brace in a comment. */
public class Outer {
    static class Inner { String text = "} class Fake {"; }
}
interface Shape { double area(); }
enum Kind { SMALL, LARGE }
record Point(int x, int y) {}
"""


def test_each_java_type_is_found_with_what_belongs_to_it() -> None:
    found = dict(types_of(JAVA))
    assert list(found) == ["Outer", "Shape", "Kind", "Point"]
    assert found["Outer"].startswith("/** A {") and found["Outer"].endswith("}")
    assert "Inner" in found["Outer"]


def test_each_java_file_has_the_imports_of_its_text_and_no_package() -> None:
    files = {file.name: file.content.decode() for file in type_files(JAVA)}
    assert set(files) == {"Outer.java", "Shape.java", "Kind.java", "Point.java"}
    assert all("import java.util.List;" in text and "package" not in text for text in files.values())


def test_tests_win_over_a_type_of_the_answer_with_the_same_name() -> None:
    files = {file.name: file.content.decode() for file in junit_files("class T { int own; }", "class T { int tests; }")}
    assert "tests" in files["T.java"] and "own" not in files["T.java"]


def test_tests_in_the_older_form_of_junit_get_no_imports_of_the_newer() -> None:
    older = "import org.junit.Test;\nimport static org.junit.Assert.*;\npublic class T { @Test public void t() {} }"
    newer = "class T { @Test void t() {} }"
    assert "jupiter" not in junit_files("", older)[0].content.decode()
    assert "org.junit.jupiter.api.*" in junit_files("", newer)[0].content.decode()


def test_all_java_blocks_of_an_answer_are_taken() -> None:
    text = "One:\n```java\nclass A {}\n```\nand\n```\nclass B {}\n```\nrun with\n```bash\njava A\n```\n"
    assert blocks_of(text) == "class A {}\n\nclass B {}"
    assert blocks_of("class C {}") == "class C {}"


def test_a_text_that_never_closes_is_read_in_one_pass() -> None:
    assert dict(types_of("class A {" + "{" * 100_000))["A"]
    assert len(merge_go_files(["import (" * 20_000])) > 0
