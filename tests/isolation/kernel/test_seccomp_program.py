"""The compiled filter against its table, instruction by instruction, for both machines and every call number."""

from __future__ import annotations

import errno
import itertools
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from sandbox_runtime.isolation.kernel import bpf, seccomp, seccomp_rules, syscalls
from sandbox_runtime.isolation.kernel.seccomp_rules import Check, Rule, Verdict

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
AUDIT_ARCH_I386 = 0x40000003
AUDIT_ARCH_ARM = 0x40000028
ALLOW, ERRNO, NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
RUBBISH_ABOVE = 0xDEAD_BEEF << 32
NO_ARGUMENTS = (0, 0, 0, 0, 0, 0)


def interpret(program: bytes, architecture: int, number: int, arguments: tuple[int, ...] = NO_ARGUMENTS) -> int:
    """What the kernel's interpreter would make of it; only the instructions that our filter uses."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *arguments)
    instructions = list(struct.iter_unpack("=HBBI", program))
    accumulator = position = 0
    while True:
        code, if_true, if_false, operand = instructions[position]
        position += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, operand)
            case 0x54:
                accumulator &= operand
            case 0x05:
                position += operand
            case 0x15:
                position += if_true if accumulator == operand else if_false
            case 0x35:
                position += if_true if accumulator >= operand else if_false
            case 0x06:
                return operand
            case _:
                raise AssertionError(f"instruction {code:#x} is none of ours")


def expected(verdict: Verdict, notify: bool) -> int:
    if verdict == seccomp_rules.ALLOW:
        return ALLOW
    return NOTIFY if notify and verdict.counted else ERRNO | verdict.error


def checks_in(rule: Rule) -> Iterator[Check]:
    if isinstance(rule, Check):
        yield rule
        yield from checks_in(rule.then)
        yield from checks_in(rule.otherwise)


def telling_arguments(rule: Rule) -> Iterator[tuple[int, ...]]:
    """Registers that send a call down every branch of its rule: each value looked for, its neighbours, single bits, and all of
    them once more with rubbish in the half that is not looked at."""
    wanted: dict[int, set[int]] = {}
    for check in checks_in(rule):
        values = {0, 1, 0xFFFFFFFF, *(1 << bit for bit in range(32))}
        values.update(near & 0xFFFFFFFF for value in check.values for near in (value - 1, value, value + 1))
        wanted.setdefault(check.argument, set()).update(values)
    few = {argument: values if len(wanted) == 1 else {v for v in values if v < 1024} for argument, values in wanted.items()}
    for chosen in itertools.product(*few.values()):
        registers = list(NO_ARGUMENTS)
        for argument, value in zip(few, chosen, strict=True):
            registers[argument] = value
        yield tuple(registers)
        yield tuple(value | RUBBISH_ABOVE for value in registers)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("notify", [True, False])
def test_the_compiled_filter_says_what_the_table_says_for_every_number(machine: str, notify: bool) -> None:
    program, rules = seccomp.build_for(machine, notify), seccomp_rules.by_number(machine)
    for number in range(600):
        rule = rules.get(number, seccomp_rules.UNKNOWN)
        for arguments in (NO_ARGUMENTS, (0xFFFFFFFF_FFFFFFFF,) * 6):
            verdict = interpret(program, MACHINES[machine], number, arguments)
            assert verdict == expected(seccomp_rules.decide(rule, arguments), notify), (number, arguments)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", [name for name, rule in seccomp_rules.by_name().items() if isinstance(rule, Check)])
def test_the_compiled_filter_says_what_the_table_says_for_telling_arguments(machine: str, name: str) -> None:
    program = seccomp.build_for(machine, notify=False)
    number, rule = syscalls.numbers(machine)[name], seccomp_rules.by_name()[name]
    seen = set()
    for arguments in telling_arguments(rule):
        verdict = seccomp_rules.decide(rule, arguments)
        seen.add(verdict)
        assert interpret(program, MACHINES[machine], number, arguments) == expected(verdict, notify=False), arguments
    assert seccomp_rules.ALLOW in seen
    assert len(seen) > 1


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("number", [0, 1, 39, 59, 450])
def test_calls_of_another_machine_are_refused_whatever_their_number(machine: str, number: int) -> None:
    plain, notifying = seccomp.build_for(machine, notify=False), seccomp.build_for(machine, notify=True)
    for architecture in {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, 0, 0xFFFFFFFF, *MACHINES.values()} - {MACHINES[machine]}:
        assert interpret(plain, architecture, number) == ERRNO | errno.ENOSYS
        assert interpret(notifying, architecture, number) == NOTIFY


@pytest.mark.parametrize("number", [0x40000000, 0x40000000 | 39, 0x40000000 | 520, 0x80000000, 0xFFFFFFFF])
def test_x32_and_negative_numbers_are_refused(number: int) -> None:
    assert interpret(seccomp.build_for("x86_64", notify=False), MACHINES["x86_64"], number) == ERRNO | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_unknown_numbers_are_answered_as_an_old_kernel_would_and_not_counted(machine: str) -> None:
    program = seccomp.build_for(machine, notify=True)
    for number in (400, 468, 512, 547, 1000, 0x3FFFFFFF):
        assert interpret(program, MACHINES[machine], number) == ERRNO | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_no_call_is_left_to_the_default_and_no_rule_names_a_call_that_does_not_exist(machine: str) -> None:
    everywhere = {name for each in MACHINES for name in syscalls.numbers(each)}
    assert set(syscalls.numbers(machine)) <= set(seccomp_rules.by_name())
    assert set(seccomp_rules.by_name()) <= everywhere


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_is_found_in_few_steps(machine: str) -> None:
    """The kernel's bound on the length is 4096; the depth is what a call whose arguments are checked pays each time."""
    assert len(seccomp.build_for(machine, notify=True)) // 8 < 400
    assert len(seccomp._ranges(machine)) < 128


def test_another_machine_is_told_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine="riscv64"))
    with pytest.raises(NotImplementedError, match="unsupported machine 'riscv64'; supported: x86_64, aarch64"):
        seccomp.build(notify=True)


def test_far_blocks_are_reached_too() -> None:
    ranges = [(10 * index, bpf.ret(index)) for index in range(1000)]
    program = bpf.pack(bpf.load(0, bpf.search(ranges)))
    for number in (0, 9, 10, 4999, 5000, 9989, 9990, 100_000):
        assert interpret(program, 0, number) == min(number // 10, 999)


def test_a_block_that_cannot_be_jumped_over_is_an_error() -> None:
    too_long = bpf.ret(0) * 256
    with pytest.raises(ValueError, match="256 instructions"):
        bpf.if_any((1,), too_long, bpf.ret(1))
    with pytest.raises(ValueError, match="256 instructions"):
        bpf.unless(1, too_long, bpf.ret(1))


def header_numbers(source: str) -> dict[str, int]:
    """Call numbers as the C preprocessor finds them in this machine's kernel headers."""
    if not shutil.which("gcc") or not Path("/usr/include/asm-generic/unistd.h").exists():
        pytest.skip("needs gcc and the kernel headers (linux-libc-dev)")
    done = subprocess.run(["gcc", "-E", "-dM", "-"], input=source, capture_output=True, text=True, check=True, timeout=30)
    raw = dict(re.findall(r"#define (__NR(?:3264)?_\w+) (\w+)", done.stdout))
    found = {}
    for name, value in raw.items():
        value = raw.get(value, value)
        if name.startswith("__NR_") and value.isdigit():
            found[name.removeprefix("__NR_")] = int(value)
    return found


def test_the_numbers_for_aarch64_are_those_of_the_kernel_headers() -> None:
    wanted = "BITS_PER_LONG 64,ARCH_WANT_RENAMEAT,ARCH_WANT_NEW_STAT,ARCH_WANT_SET_GET_RLIMIT,ARCH_WANT_SYS_CLONE3"
    defines = "".join(
        f"#define __{each}\n" for each in (*wanted.split(","), "ARCH_WANT_TIME32_SYSCALLS", "ARCH_WANT_MEMFD_SECRET")
    )
    header = header_numbers(f"{defines}#include <asm-generic/unistd.h>\n")
    del header["arch_specific_syscall"], header["syscalls"]
    assert_same_numbers("aarch64", header)


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the headers of x86_64 come with x86_64")
def test_the_numbers_for_x86_64_are_those_of_the_kernel_headers() -> None:
    assert_same_numbers("x86_64", header_numbers("#include <asm/unistd_64.h>\n"))


def assert_same_numbers(machine: str, header: dict[str, int]) -> None:
    """Headers may be older or newer than our tables, but must not say otherwise."""
    ours = syscalls.numbers(machine)
    assert len(header) > 300
    assert {name: ours[name] for name in header if name in ours} == {name: header[name] for name in header if name in ours}
    unknown = {name: number for name, number in header.items() if name not in ours}
    assert all(number > max(ours.values()) for number in unknown.values())
