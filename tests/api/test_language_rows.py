"""What the protocol requires of each language besides running: libraries, file names, null results."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.servers import Client, b64, serving
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.errors import NotFound
from sandbox_runtime.settings import Settings

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

WITHIN_S = 100.0
CALC = b64(b"public class Calc { static int twice(int n) { return 2 * n; } }")
CALC_TEST = b64(
    b"import org.junit.jupiter.api.*;\nclass CalcTest { @Test void twice() { Assertions.assertEquals(4, Calc.twice(2)); } }"
)
JAVA = """import org.javatuples.Pair;
public class Main {
    public static void main(String[] args) {
        try { assert false; System.out.print("off"); } catch (AssertionError error) { System.out.print(Pair.with("on", 1)); }
    }
}"""
GO_TEST = """package main
import ("testing"; "github.com/stretchr/testify/assert")
func TestSum(t *testing.T) { assert.Equal(t, 2, 1+1) }
"""
CPP = "#include <boost/any.hpp>\n#include <iostream>\nint main() { std::cout << boost::any_cast<int>(boost::any(45)); }"
VERILOG = 'module tb; initial begin $display("45"); $finish; end endmodule'
SCALA = "object Hello { def main(args: Array[String]): Unit = println(45) }"
NODE = 'const _ = require("lodash"); console.log(_.sum([40, 5]), require("js-md5")("x").length);'
TYPESCRIPT = 'import _ from "lodash";\nconst numbers: number[] = [40, 5];\nconsole.log(_.sum(numbers));'
PERL = "use Test::Deep; use Data::Compare; print Compare([1], [1]) && eq_deeply([1], [1]) ? 45 : 0;"
LUA = 'local unit = require("luaunit")\nunit.assertEquals(45, 45)\nprint(45)'
RUBY = 'require "test/unit"\nclass T < Test::Unit::TestCase\n def test_it; assert_equal 45, 45; end\nend'
CUDA = {
    "CMakeLists.txt": b64(b"cmake_minimum_required(VERSION 3.18)\nproject(main CUDA)\nadd_executable(main main.cu)\n"),
    "main.cu": b64(b'#include <cstdio>\nint main() { std::puts("45"); }\n'),
}
GPU = {"compile.py": b64(b""), "run.py": b64(b"print(45)")}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    skip_where_the_host_lacks("namespaces")
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")), pool_size=0, log_level="error", check_languages=False)
    async with serving(settings) as opened:
        opened.timeout = 2 * WITHIN_S
        yield opened


async def ran(client: Client, language: str, code: str, **fields: Any) -> dict[str, Any]:
    try:
        (proof,) = await client.platform.engine.languages([language])
    except NotFound as error:
        pytest.skip(str(error))
    if not proof.enabled:
        pytest.skip(f"{language} does not work here: {proof.reason}")
    return await client.run_code(code, language, compile_timeout=WITHIN_S, run_timeout=WITHIN_S, **fields)


@pytest.mark.parametrize(
    ("language", "code", "files", "output"),
    [
        pytest.param("python", "print(40 + 5)", {}, "45", marks=pytest.mark.requirement("fusion-3.10")),
        pytest.param("pytest", "def test_it(): assert True", {}, "1 passed", marks=pytest.mark.requirement("fusion-3.11")),
        pytest.param("cpp", CPP, {}, "45", marks=pytest.mark.requirement("fusion-3.12")),
        pytest.param(
            "go",
            'package main\nimport "fmt"\nfunc main() { fmt.Println(45) }',
            {},
            "45",
            marks=pytest.mark.requirement("fusion-3.14"),
        ),
        pytest.param("go_test", GO_TEST, {}, "ok", marks=pytest.mark.requirement("fusion-3.15")),
        pytest.param("java", JAVA, {}, "[on, 1]", marks=pytest.mark.requirement("fusion-3.16")),
        pytest.param(
            "junit",
            "",
            {"Calc.java": CALC, "CalcTest.java": CALC_TEST},
            "1 tests successful",
            marks=pytest.mark.requirement("fusion-3.17"),
        ),
        pytest.param("nodejs", NODE, {}, "45 32", marks=pytest.mark.requirement("fusion-3.18", "fusion-3.41")),
        pytest.param("typescript", TYPESCRIPT, {}, "45", marks=pytest.mark.requirement("fusion-3.19")),
        pytest.param("php", "\n  echo 40 + 5;", {}, "45", marks=pytest.mark.requirement("fusion-3.21")),
        pytest.param("rust", 'fn main() { println!("45"); }', {}, "45", marks=pytest.mark.requirement("fusion-3.22")),
        pytest.param("bash", "echo $((40 + 5))", {}, "45", marks=pytest.mark.requirement("fusion-3.23")),
        pytest.param("lua", LUA, {}, "45", marks=pytest.mark.requirement("fusion-3.24")),
        pytest.param("R", "cat(40 + 5)", {}, "45", marks=pytest.mark.requirement("fusion-3.25")),
        pytest.param("perl", PERL, {}, "45", marks=pytest.mark.requirement("fusion-3.26")),
        pytest.param(
            "D_ut",
            "import std.stdio;\nunittest { writeln(45); }\nvoid main() {}",
            {},
            "45",
            marks=pytest.mark.requirement("fusion-3.27"),
        ),
        pytest.param("ruby", RUBY, {}, "1 tests", marks=pytest.mark.requirement("fusion-3.28")),
        pytest.param("scala", SCALA, {}, "45", marks=pytest.mark.requirement("fusion-3.29")),
        pytest.param("julia", "print(40 + 5)", {}, "45"),
        pytest.param("kotlin_script", "println(40 + 5)", {}, "45", marks=pytest.mark.requirement("fusion-3.31")),
        pytest.param("verilog", VERILOG, {}, "45", marks=pytest.mark.requirement("fusion-3.32")),
        pytest.param("lean", "def main : IO Unit := pure ()", {}, ""),
        pytest.param("swift", "print(40 + 5)", {}, "45"),
        pytest.param(
            "racket",
            "#lang racket\n(require rackunit)\n(check-equal? 45 45)\n(display 45)",
            {},
            "45",
            marks=pytest.mark.requirement("fusion-3.35"),
        ),
        pytest.param("cuda", "", CUDA, "45"),
        pytest.param("python_gpu", "", GPU, "45"),
        pytest.param("sql", "select 40 + 5;", {}, "45", marks=pytest.mark.requirement("fusion-3.38")),
    ],
)
async def test_a_language_finds_what_its_users_expect(
    client: Client, language: str, code: str, files: dict[str, str], output: str
) -> None:
    answer = await ran(client, language, code, files=files)
    assert answer["status"] == "Success", answer
    assert output in answer["run_result"]["stdout"]


@pytest.mark.requirement("fusion-3.13")
async def test_csharp_has_no_compile_result(client: Client) -> None:
    answer = await ran(client, "csharp", "using System; class P { static void Main() { Console.WriteLine(45); } }")
    assert (answer["status"], answer["compile_result"], answer["run_result"]["stdout"]) == ("Success", None, "45\n")


@pytest.mark.requirement("fusion-3.20")
async def test_the_report_of_jest_can_be_fetched(client: Client) -> None:
    answer = await ran(client, "jest", 'test("sum", () => { expect(1 + 1).toBe(2); });', fetch_files=["jest-report.json"])
    assert answer["status"] == "Success", answer
    assert set(answer["files"]) == {"jest-report.json"}


@pytest.mark.requirement("fusion-2.07", "fusion-3.29")
async def test_scala_without_an_object_is_told_as_the_protocol_says(client: Client) -> None:
    answer = await ran(client, "scala", "class Alone")
    assert (answer["status"], answer["message"], answer["run_result"]) == ("SandboxError", "Object name not found.", None)
    assert (answer["compile_result"]["status"], answer["compile_result"]["return_code"]) == ("Error", 1)


@pytest.mark.requirement("fusion-3.40")
@pytest.mark.parametrize(
    "module",
    [
        "numpy", "pandas", "scipy", "matplotlib", "seaborn", "sklearn", "statsmodels", "sympy", "networkx", "requests", "pytest",
        "bs4", "lxml", "cryptography", "pydantic", "flask", "django", "openpyxl", "PIL", "nltk", "docx", "yaml", "psutil",
    ],
)  # fmt: skip
async def test_packages_that_users_expect_can_be_imported(client: Client, module: str) -> None:
    answer = await ran(client, "python", f"import {module}")
    if answer["status"] != "Success":
        guest = client.platform.settings.guest_python
        assert not guest.endswith(".state/guest/bin/python"), answer["run_result"]["stderr"]
        pytest.skip(f"{guest} is no guest interpreter of ours")
