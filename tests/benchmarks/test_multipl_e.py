"""MultiPL-E: functions in many languages, as a text that goes on and as an answer with a block of code."""

from __future__ import annotations

from typing import Any

import pytest
from tests.benchmarks.boxed import found
from tests.benchmarks.judge_runs import options, prompt

from sandbox_runtime.benchmarks.multipl_e import MULTIPL_E
from sandbox_runtime.judge.judge import Judge

pytestmark = pytest.mark.asyncio(loop_scope="session")


def row(language: str, prompt: str, tests: str, *stop_tokens: str) -> dict[str, Any]:
    return {
        "name": f"{language}_double",
        "language": language,
        "prompt": prompt,
        "tests": tests,
        "stop_tokens": list(stop_tokens),
    }


BASH_TESTS = """\
}

candidate() {
    double "$@"
}

set -e
run_test() {
    [[ $(candidate 2) = "4" ]]
}

run_test
"""
LUA_TESTS = """\
lu = require('luaunit')

function test_humaneval()
  local candidate = double
  lu.assertEquals(candidate(2), 4)
end

os.exit(lu.LuaUnit.run())
"""
RACKET_TESTS = """\
(require rackunit)

(define (test-humaneval)
  (let ((candidate double))
    (check-equal? (candidate 2) 4)))

(test-humaneval)
"""
RUST_TESTS = "}\n\nfn main() {\n    let candidate = double;\n    assert_eq!(candidate(2), 4);\n}"
PHP_TESTS = 'function test(): void {\n    if (double(2) !== 4) { throw new Exception("no"); }\n}\n\ntest();'
ROWS = {
    "sh": row("sh", "#!/bin/bash\n# $1 is an integer\ndouble() {\n", BASH_TESTS, "\n}"),
    "lua": row("lua", "-- Double n.\nlocal function double(n)\n", LUA_TESTS, "\nlocal", "\n--", "\n\n"),
    "rkt": row("rkt", "#lang racket\n\n;; Double n.\n(define (double n)\n", RACKET_TESTS, "\n(define ", "\n;", "\n("),
    "rs": row("rs", "/// Double n.\nfn double(n: isize) -> isize {\n", RUST_TESTS, "\n}"),
    "php": row("php", "<?php\n// Double n.\nfunction double($n) {\n", PHP_TESTS, "\nfunction", "\n?>"),
}
BODY = {
    "sh": "    echo $(( $1 * 2 ))\n}\n\nmore() {\n  :\n}",
    "lua": "    return 2 * n\nend\n\n-- more\nlocal function other()",
    "rkt": "  (* 2 n))\n\n(define (other) 1)",
    "rs": "    2 * n\n}\n\nfn other() {}",
    "php": "    return 2 * $n;\n}\n\nfunction other() {}",
}
BLOCK = {
    "sh": "```bash\n#!/bin/bash\ntwo() {\n    echo 2\n}\ndouble() {\n    echo $(( $1 * $(two) ))\n}\n```",
    "lua": "```lua\nlocal function double(n)\n    return 2 * n\nend\n```",
    "rkt": "```racket\n#lang racket\n(define (double n) (* 2 n))\n```",
    "rs": "```rust\nfn two() -> isize {\n    2\n}\n\nfn double(n: isize) -> isize {\n    two() * n\n}\n"
    "\nfn main() {\n    double(2);\n}\n```",
    "php": "```php\n<?php\nfunction double($n) {\n    return 2 * $n;\n}\n```",
}


@pytest.mark.requirement("judge-10.15")
@pytest.mark.parametrize("language", ROWS)
async def test_a_body_and_a_block_are_both_accepted_and_a_wrong_one_is_not(judge: Judge, language: str) -> None:
    under, asked = options(f"multiple_{language}"), options(f"multiple_{language}", is_freeform=True)
    told = await found(judge, MULTIPL_E, ROWS[language], BODY[language], under)
    assert told.accepted, (told.message, told.full_code)
    told = await found(judge, MULTIPL_E, ROWS[language], BLOCK[language], asked)
    assert told.accepted, (told.message, told.full_code)
    wrong = BODY[language].replace("2", "3")
    assert not (await found(judge, MULTIPL_E, ROWS[language], wrong, under)).accepted


@pytest.mark.requirement("judge-13.09")
async def test_a_failure_of_racket_counts_though_its_exit_code_is_0(judge: Judge) -> None:
    told = await found(judge, MULTIPL_E, ROWS["rkt"], "  (+ 1 n))", options("multiple_rkt"))
    assert not told.accepted
    assert told.cases[0].run is not None and told.cases[0].run.ok and "FAILURE" in told.cases[0].run.stderr.text


async def test_the_prompt_is_the_rows_own_and_its_id_the_name() -> None:
    asked = prompt(MULTIPL_E, ROWS["rs"], options("multiple_rs"))
    assert (asked.id, asked.prompt) == ("rs_double", ROWS["rs"]["prompt"])
