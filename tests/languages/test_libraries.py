"""What programs expect to find beside their language: libraries, node modules, Go modules, jars, and what test runners leave."""

# Programs in texts have lines as long as they are.
# ruff: noqa: E501

from __future__ import annotations

import base64
import json

import pytest
from tests.languages.conftest import Run, Working
from tests.languages.outcomes import ran, told

from sandbox_runtime.model import File

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROGRAMS = {
    ("cpp", "boost"): """
        #include <boost/any.hpp>
        #include <boost/multiprecision/cpp_int.hpp>
        #include <iostream>
        int main() { boost::any any = 1; std::cout << boost::multiprecision::cpp_int("100000000000000000000") + boost::any_cast<int>(any); }
    """,
    ("cpp", "openssl"): """
        #include <openssl/md5.h>
        #include <cstdio>
        int main() {
            unsigned char digest[16];
            MD5(reinterpret_cast<const unsigned char *>("a"), 1, digest);
            std::printf("%02x", digest[0]);
        }
    """,
    ("cpp", "threads"): """
        #include <iostream>
        #include <thread>
        int main() { std::thread([] { std::cout << "threads"; }).join(); }
    """,
    ("nodejs", "modules"): """
        const _ = require("lodash"), { JSDOM } = require("jsdom"), md5 = require("js-md5"), { Command } = require("commander");
        const random = require("seedrandom")("x")(), other = require("random-seed").create("x").random();
        new Command();
        console.log(new JSDOM("<p>4</p>").window.document.querySelector("p").textContent, md5("a"), _.sum([1, 2]), random < 1, other < 1);
    """,
    (
        "nodejs",
        "import",
    ): 'import _ from "lodash"; import { readFileSync } from "node:fs"; console.log(_.capitalize("imported"));',
    ("nodejs", "children"): 'console.log(require("child_process").execFileSync("node", ["-p", "6 * 7"]).toString());',
    ("typescript", "modules"): 'import _ from "lodash";\nenum Kind { A = 7 }\nconsole.log(_.sum([Kind.A, 1]) as number);',
    ("go", "modules"): """
        package main

        import (
            "fmt"

            "github.com/google/uuid"
            "github.com/pkg/errors"
            "golang.org/x/exp/slices"
            "gopkg.in/yaml.v3"
        )

        func main() {
            text, _ := yaml.Marshal(map[string]int{"a": len(uuid.Nil.String())})
            fmt.Println(string(text), errors.New("told"), slices.Contains([]int{1}, 1))
        }
    """,
    ("go", "cgo"): """
        package main

        // static int twice(int n) { return 2 * n; }
        import "C"
        import "fmt"

        func main() { fmt.Println(C.twice(21)) }
    """,
    ("sql", "rows"): "create table t(a, b); insert into t values (1, 'x'), (2, null); select * from t order by a desc;",
    (
        "php",
        "without a tag",
    ): "echo strtoupper(json_encode(['a' => mb_strlen('ü') + bcadd('1', '2') + gmp_intval(gmp_add(1, 2)) + ctype_digit('1')]));",
    (
        "csharp",
        "usings",
    ): 'class Program { static void Main() => Console.WriteLine(string.Join(",", new[] { 3, 1, 2 }.OrderBy(x => x))); }',
    ("csharp", "hashes"): """
        using System.Security.Cryptography;
        class PreparedSource { static void Main() => Console.WriteLine(BitConverter.ToString(SHA256.Create().ComputeHash(new byte[0])).Substring(0, 5)); }
    """,
}
PRINTED = {
    ("cpp", "boost"): "100000000000000000001",
    ("cpp", "openssl"): "0c",
    ("cpp", "threads"): "threads",
    ("nodejs", "modules"): "4 0cc175b9c0f1b6a831c399e269772661 3 true true",
    ("nodejs", "import"): "Imported",
    ("nodejs", "children"): "42",
    ("typescript", "modules"): "8",
    ("go", "modules"): "a: 36\n told true",
    ("go", "cgo"): "42",
    ("sql", "rows"): "2|\n1|x",
    ("php", "without a tag"): '{"A":8}',
    ("csharp", "usings"): "1,2,3",
    ("csharp", "hashes"): "E3-B0",
}


GUEST_MODULES = "numpy pandas scipy matplotlib sympy sklearn requests pytest bs4 lxml cryptography networkx pydantic"


@pytest.mark.parametrize(("name", "what"), list(PROGRAMS))
async def test_programs_find_what_they_expect(working: Working, run: Run, name: str, what: str) -> None:
    result = await run(await working(name), PROGRAMS[name, what])
    assert ran(result).ok, told(result)
    assert ran(result).stdout.text.strip() == PRINTED[name, what]


@pytest.mark.parametrize("module", GUEST_MODULES.split())
async def test_python_programs_find_the_guests_packages(working: Working, run: Run, module: str) -> None:
    result = await run(await working("python"), f"import {module}; print({module}.__name__)")
    assert ran(result).stdout.text.strip() == module, told(result)


async def test_jest_leaves_its_report(working: Working, run: Run) -> None:
    code = "const add = (a: number, b: number) => a + b;\ndescribe('adding', () => { test('works', () => expect(add(1, 2)).toBe(3)); });"
    result = await run(await working("jest"), code, fetch=("jest-report.json",))
    assert ran(result).ok, told(result)
    report = json.loads(result.files[0].content)
    assert (report["numPassedTests"], report["testResults"][0]["testResults"][0]["fullName"]) == (1, "adding works")
    assert "\x1b[" not in ran(result).stderr.text


async def test_jest_tests_in_a_browser_like_page(working: Working, run: Run) -> None:
    code = """/** @jest-environment jsdom */
    import "@testing-library/jest-dom";
    import { getByText } from "@testing-library/dom";
    test("page", () => { document.body.innerHTML = "<b>bold</b>"; expect(getByText(document.body, "bold")).toBeInTheDocument(); });
    """
    result = await run(await working("jest"), code)
    assert ran(result).ok, told(result)


async def test_java_programs_find_an_uploaded_jar(working: Working, run: Run) -> None:
    result = await run(
        await working("java"),
        "public class Main { public static void main(String[] a) { System.out.println(new lib.Greeting()); } }",
        "",
        File("greeting.jar", base64.b64decode(await _jar(working, run))),
    )
    assert ran(result).stdout.text.strip() == "from the jar", told(result)


async def _jar(working: Working, run: Run) -> str:
    """A jar with one class, made where there is a compiler: in a box."""
    code = """
    import java.io.*; import java.nio.file.*; import java.util.*; import java.util.jar.*; import javax.tools.*;
    public class Main {
        public static void main(String[] words) throws Exception {
            Files.createDirectories(Path.of("lib"));
            Files.writeString(Path.of("lib/Greeting.java"), "package lib; public class Greeting { public String toString() { return \\"from the jar\\"; } }");
            ToolProvider.getSystemJavaCompiler().run(null, null, null, "lib/Greeting.java");
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (JarOutputStream jar = new JarOutputStream(bytes)) {
                jar.putNextEntry(new JarEntry("lib/Greeting.class"));
                jar.write(Files.readAllBytes(Path.of("lib/Greeting.class")));
            }
            System.out.print(Base64.getEncoder().encodeToString(bytes.toByteArray()));
        }
    }
    """
    result = await run(await working("java"), code)
    assert ran(result).ok, told(result)
    return ran(result).stdout.text


async def test_junit_compiles_every_file_and_splits_nothing_it_need_not(working: Working, run: Run) -> None:
    sum_java = File("Sum.java", b"public class Sum { static int of(int a, int b) { return a + b; } }")
    test_code = """
    import static org.junit.jupiter.api.Assertions.*;
    import org.junit.jupiter.api.Test;
    public class SumTest { @Test void adds() { assertEquals(3, Sum.of(1, 2)); } }
    """
    language = await working("junit")
    result = await run(language, test_code, "", sum_java)
    assert ran(result).ok and "1 tests successful" in ran(result).stdout.text, told(result)
    result = await run(language, "", "", sum_java, File("SumTest.java", test_code.encode()))
    assert ran(result).ok and "1 tests successful" in ran(result).stdout.text, told(result)


async def test_a_failing_go_test_names_the_test(working: Working, run: Run) -> None:
    code = 'package main\n\nimport "testing"\n\nfunc TestWrong(t *testing.T) { t.Error("told") }\n'
    result = await run(await working("go_test"), code)
    assert ran(result).exit_code == 1 and "--- FAIL: TestWrong" in ran(result).stdout.text, told(result)


async def test_a_go_module_that_is_not_there_is_told_and_not_fetched(working: Working, run: Run) -> None:
    code = 'package main\n\nimport _ "example.org/nothing"\n\nfunc main() {}\n'
    result = await run(await working("go"), code)
    assert result.run is None and result.compile is not None and "example.org/nothing" in result.compile.stderr.text


async def test_a_failed_assertion_in_csharp_ends_the_program(working: Working, run: Run) -> None:
    code = 'class Program { static void Main() { System.Diagnostics.Debug.Assert(1 > 2); Console.WriteLine("went on"); } }'
    result = await run(await working("csharp"), code)
    assert not ran(result).ok and "went on" not in ran(result).stdout.text, told(result)


async def test_csharp_errors_name_the_line_of_the_caller(working: Working, run: Run) -> None:
    result = await run(await working("csharp"), "class Program\n{\n    static void Main() => Missing();\n}\n")
    assert ran(result).exit_code == 1 and "Program.cs(3," in ran(result).stderr.text, told(result)


async def test_assertions_are_on_in_java(working: Working, run: Run) -> None:
    code = 'public class Main { public static void main(String[] a) { assert 1 > 2 : "told"; } }'
    result = await run(await working("java"), code)
    assert ran(result).exit_code == 1 and "AssertionError: told" in ran(result).stderr.text


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nodejs", 'process.stdout.write(require("fs").readFileSync("/dev/stdin", "utf8"))'),
        ("bash", "cat /dev/stdin > /dev/stdout"),
        ("python", 'open("/dev/stdout", "w").write(open("/dev/stdin").read())'),
    ],
)
async def test_the_standard_streams_can_be_opened_by_their_paths(working: Working, run: Run, name: str, code: str) -> None:
    result = await run(await working(name), code, "by path ✓\n")
    assert ran(result).stdout.text == "by path ✓\n", told(result)
