"""One small example in each language, so that a model sees the form in which it is to answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Example:
    """code has <arguments> and <result> in it, call <arguments>. asks: in the form of rows that have the text of a check."""

    code: str
    arguments: str
    result: str
    call: str = "candidate(<arguments>)"
    thought: str = "The function multiplies its two arguments and adds 1: 3 * 4 + 1 is 13."
    has_placeholder: bool = True


EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "f": Example(
            code="""\
def f(n, text):
    return text * n
assert f(<arguments>) == <result>""",
            arguments="3, 'ab'",
            result="'ababab'",
            call="f(<arguments>)",
            thought="The function repeats the text as often as the number says: three times ab is ababab.",
            has_placeholder=False,
        ),
        "python": Example(
            code="""\
def f(a: int, b: int) -> int:
    return a * b + 1

def check(candidate):
    assert candidate(<arguments>) == <result>

check(f)""",
            arguments="3, 4",
            result="13",
        ),
        "cpp": Example(
            code="""\
#include <assert.h>
long f(long a, long b) {
    return a * b + 1;
}
int main() {
    auto candidate = f;
    assert(candidate(<arguments>) == (<result>));
}""",
            arguments="(3), (4)",
            result="13",
        ),
        "csharp": Example(
            code="""\
using System.Diagnostics;
class Problem {
    public static long F(long a, long b) {
        return a * b + 1;
    }
    public static void Main(string[] args) {
        Debug.Assert(F(<arguments>) == (<result>));
    }
}""",
            arguments="(3L), (4L)",
            result="13L",
            call="F(<arguments>)",
        ),
        "D_ut": Example(
            code="""\
long f(long a, long b) {
    return a * b + 1;
}
unittest {
    alias candidate = f;
    assert(candidate(<arguments>) == <result>);
}
void main() {}""",
            arguments="3L, 4L",
            result="13L",
        ),
        "go_test": Example(
            code="""\
package f_test

import "testing"

func f(a int, b int) int {
    return a*b + 1
}

func TestF(t *testing.T) {
    candidate := f
    if candidate(<arguments>) != <result> {
        t.Errorf("wrong")
    }
}""",
            arguments="3, 4",
            result="13",
        ),
        "java": Example(
            code="""\
class Problem {
    public static long f(long a, long b) {
        return a * b + 1;
    }
    public static void main(String[] args) {
        assert(f(<arguments>) == (<result>));
    }
}""",
            arguments="(3l), (4l)",
            result="13l",
            call="f(<arguments>)",
        ),
        "julia": Example(
            code="""\
function f(a, b)
    return a * b + 1
end

using Test

@testset begin
    candidate = f;
    @test(candidate(<arguments>) == <result>)
end""",
            arguments="3, 4",
            result="13",
        ),
        "nodejs": Example(
            code="""\
function f(a, b) {
    return a * b + 1;
}
const assert = require('node:assert');

function test() {
    let candidate = f;
    assert.deepEqual(candidate(<arguments>), <result>);
}

test();""",
            arguments="3, 4",
            result="13",
        ),
        "typescript": Example(
            code="""\
function f(a: number, b: number): number {
    return a * b + 1;
}
declare var require: any;
const assert = require('node:assert');

function test() {
    let candidate = f;
    assert.deepEqual(candidate(<arguments>), <result>);
}

test();""",
            arguments="3, 4",
            result="13",
        ),
        "lua": Example(
            code="""\
local function f(a, b)
    return a * b + 1
end

lu = require('luaunit')

function test_f()
    local candidate = f
    lu.assertEquals(candidate(<arguments>), <result>)
end

os.exit(lu.LuaUnit.run())""",
            arguments="3, 4",
            result="13",
        ),
        "php": Example(
            code="""\
<?php
function f($a, $b) {
    return $a * $b + 1;
}

function candidate(...$args) {
    return f(...$args);
}

if (candidate(<arguments>) !== <result>) { throw new Exception("wrong"); }""",
            arguments="3, 4",
            result="13",
        ),
        "perl": Example(
            code="""\
sub f {
    my ($a, $b) = @_;
    return $a * $b + 1;
}

use Test::Deep;

my $candidate = \\&f;
exit 1 unless eq_deeply($candidate->(<arguments>), <result>);""",
            arguments="3, 4",
            result="13",
            call="$candidate->(<arguments>)",
        ),
        "R": Example(
            code="""\
f <- function(a, b) {
    return(a * b + 1)
}
candidate <- f
stopifnot(isTRUE(all.equal(candidate(<arguments>), <result>)))""",
            arguments="3, 4",
            result="13",
        ),
        "ruby": Example(
            code="""\
def f(a, b)
  a * b + 1
end

require 'test/unit'
class TestF < Test::Unit::TestCase
  def test_f
    candidate = method(:f)
    assert_equal(<result>, candidate.call(<arguments>))
  end
end""",
            arguments="3, 4",
            result="13",
            call="candidate.call(<arguments>)",
        ),
        "racket": Example(
            code="""\
#lang racket
(define (f a b)
  (+ (* a b) 1))

(require rackunit)

(let ((candidate f))
  (check-within (candidate <arguments>) <result> 0.001))""",
            arguments="3 4",
            result="13",
            call="(candidate <arguments>)",
        ),
        "rust": Example(
            code="""\
fn f(a: isize, b: isize) -> isize {
    a * b + 1
}

fn main() {
    let candidate = f;
    assert_eq!(candidate(<arguments>), <result>);
}""",
            arguments="3, 4",
            result="13",
        ),
        "scala": Example(
            code="""\
object Problem {
    def f(a: Long, b: Long): Long = {
        a * b + 1
    }
    def main(args: Array[String]) = {
        assert(f(<arguments>) == (<result>));
    }
}""",
            arguments="(3l), (4l)",
            result="13l",
            call="f(<arguments>)",
        ),
        "bash": Example(
            code="""\
#!/bin/bash
# $1 and $2 are integers
f() {
    echo $(($1 * $2 + 1))
}

candidate() {
    f "$@"
}

[[ $(candidate <arguments>) = <result> ]]""",
            arguments='"3" "4"',
            result='"13"',
            call="$(candidate <arguments>)",
        ),
        "swift": Example(
            code="""\
func f(a: Int, b: Int) -> Int {
    return a * b + 1
}

assert(f(<arguments>) == <result>)""",
            arguments="a: 3, b: 4",
            result="13",
            call="f(<arguments>)",
        ),
    }
)
"""By the language of a row; `f` is the form of rows in Python that have an input and an output."""
