"""The filter in the kernel: what a real process under it can and cannot do, and what its listener sees."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.isolation.kernel.filtered_process import (
    end,
    raw,
    run_program,
    start,
    take_listener,
    under_notifying_filter,
    under_plain_filter,
)

from sandbox_runtime.isolation.kernel import capabilities, seccomp, seccomp_rules, syscalls

KNOWN = syscalls.numbers(syscalls.this_machine())
ALWAYS_REFUSED = {
    name: rule
    for name, rule in seccomp_rules.by_name().items()
    if name in KNOWN and isinstance(rule, seccomp_rules.Verdict) and rule.error
}
COUNTED = [name for name, rule in ALWAYS_REFUSED.items() if rule.counted]
RUBBISH_ABOVE = 0x7EADBEEF << 32
EVERY_BIT = (-1,) * 6
"""Makes every call fail, mostly with EFAULT, EBADF or EINVAL, should a hole in the filter let it through: EPERM is its own."""

CLONE_FLAGS = {
    "NEWNS": 0x00020000,
    "NEWCGROUP": 0x02000000,
    "NEWUTS": 0x04000000,
    "NEWIPC": 0x08000000,
    "NEWUSER": 0x10000000,
    "NEWPID": 0x20000000,
    "NEWNET": 0x40000000,
}
CLONE_NEWTIME, CLONE_FILES = 0x80, 0x400
only_x86_64 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="this way into the kernel exists on x86_64 only")


def try_all_refused() -> dict[str, int]:
    return {name: raw(name, *EVERY_BIT) for name in ALWAYS_REFUSED}


def test_every_refused_call_gets_its_errno_and_is_counted_by_its_name() -> None:
    results, counts = under_notifying_filter(try_all_refused)
    assert results == {name: -rule.error for name, rule in ALWAYS_REFUSED.items()}
    assert counts == Counter(COUNTED)


def test_without_a_listener_the_kernel_gives_the_same_answers() -> None:
    assert under_plain_filter(try_all_refused) == {name: -rule.error for name, rule in ALWAYS_REFUSED.items()}


def test_what_reaches_out_of_a_box_is_forbidden_for_good() -> None:
    """Written out once more, so that a slip in the table shows."""
    names = """ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp mount umount2 pivot_root chroot fsopen move_mount
    open_tree mount_setattr setns keyctl add_key request_key io_uring_setup bpf perf_event_open userfaultfd open_by_handle_at
    fanotify_init kexec_load init_module finit_module delete_module reboot swapon swapoff acct quotactl syslog sethostname
    setdomainname clock_settime settimeofday adjtimex clock_adjtime move_pages migrate_pages vhangup"""
    for name in names.split():
        assert ALWAYS_REFUSED[name] == (errno.EPERM, True), name


def test_new_namespaces_are_refused_to_clone_and_unshare() -> None:
    def attempt() -> dict[str, list[int]]:
        return {
            name: [
                raw("clone", flag | signal.SIGCHLD, 0, 0, 0, 0),
                raw("clone", flag | RUBBISH_ABOVE, 0, 0, 0, 0),
                raw("unshare", flag),
            ]
            for name, flag in CLONE_FLAGS.items()
        }

    results, counts = under_notifying_filter(attempt)
    assert results == {name: [-errno.EPERM] * 3 for name in CLONE_FLAGS}
    assert counts == {"clone": 14, "unshare": 7}


def test_unshare_still_parts_descriptors_but_takes_no_flag_it_does_not_know() -> None:
    def attempt() -> list[int]:
        return [raw("unshare", flags) for flags in (CLONE_FILES, CLONE_NEWTIME, 0x00100000, CLONE_FILES | 1 << 40)]

    assert under_plain_filter(attempt) == [0, -errno.EPERM, -errno.EPERM, -errno.EPERM]


def test_clone3_is_absent_and_no_news() -> None:
    results, counts = under_notifying_filter(lambda: raw("clone3", 0, 0))
    assert results == -errno.ENOSYS
    assert not counts


def test_processes_and_threads_can_be_started() -> None:
    def attempt() -> list[int]:
        ran = threading.Event()
        thread = threading.Thread(target=ran.set)
        thread.start()
        thread.join(20)
        pid = os.fork()
        if not pid:
            os._exit(7)
        return [ran.is_set(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]

    assert under_notifying_filter(attempt) == ([True, 7], Counter())


SOCKETS = {
    "unix stream": ((1, 1, 0), 0),
    "unix datagram": ((1, 2, 0), 0),
    "tcp": ((2, 1, 0), 0),
    "tcp, close on exec, not blocking": ((2, 1 | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, 6), 0),
    "udp": ((2, 2, 17), 0),
    "routing netlink": ((16, 3, 0), 0),
    "rubbish in the upper halves": ((1 | RUBBISH_ABOVE, 1 | RUBBISH_ABOVE, 0), 0),
    "raw": ((2, 3, 1), errno.EPERM),
    "raw, close on exec": ((2, 3 | socket.SOCK_CLOEXEC, 1), errno.EPERM),
    "raw ipv6": ((10, 3, 58), errno.EPERM),
    "raw, rubbish above": ((2 | RUBBISH_ABOVE, 3 | RUBBISH_ABOVE, 1), errno.EPERM),
    "packet by its old name": ((2, 10, 3), errno.EPERM),
    "packet": ((17, 3, 3), errno.EAFNOSUPPORT),
    "packet, rubbish above": ((17 | RUBBISH_ABOVE, 3, 3), errno.EAFNOSUPPORT),
    "vsock": ((40, 1, 0), errno.EAFNOSUPPORT),
    "alg": ((38, 5, 0), errno.EAFNOSUPPORT),
    "key": ((15, 3, 2), errno.EAFNOSUPPORT),
    "bluetooth": ((31, 3, 1), errno.EAFNOSUPPORT),
    "can": ((29, 3, 1), errno.EAFNOSUPPORT),
    "tipc": ((30, 1, 0), errno.EAFNOSUPPORT),
    "xdp": ((44, 3, 0), errno.EAFNOSUPPORT),
    "netfilter netlink": ((16, 3, 12), errno.EPROTONOSUPPORT),
    "audit netlink": ((16, 3, 9), errno.EPROTONOSUPPORT),
    "sctp": ((2, 1, 132), errno.EPROTONOSUPPORT),
}


def test_only_ordinary_sockets_can_be_made() -> None:
    def attempt() -> dict[str, int]:
        return {name: min(raw("socket", *arguments), 0) for name, (arguments, _) in SOCKETS.items()}

    results, counts = under_notifying_filter(attempt)
    assert results == {name: -error for name, (_, error) in SOCKETS.items()}
    assert counts == {"socket": sum(error != 0 for _, error in SOCKETS.values())}


def test_a_probe_for_multipath_tcp_is_told_to_take_plain_tcp_and_is_no_news() -> None:
    assert under_notifying_filter(lambda: raw("socket", 2, 1, 262)) == (-errno.EPROTONOSUPPORT, Counter())


def test_socket_pairs_follow_the_same_rules() -> None:
    def attempt() -> list[int]:
        pair = (ctypes.c_int * 2)()
        address = ctypes.addressof(pair)
        return [raw("socketpair", 1, 1, 0, address), raw("socketpair", 30, 1, 0, address), raw("socketpair", 40, 1, 0, address)]

    assert under_plain_filter(attempt) == [0, -errno.EAFNOSUPPORT, -errno.EAFNOSUPPORT]


def test_nothing_can_be_typed_into_a_terminal_for_its_owner() -> None:
    forbidden = (0x5412, 0x541C, 0x541D, 0x5423)

    def attempt() -> list[int]:
        _, terminal = os.openpty()
        settings = ctypes.create_string_buffer(b"x" * 64)
        address = ctypes.addressof(settings)
        requests = (
            *forbidden,
            *(request | RUBBISH_ABOVE for request in forbidden),
            *(request | 1 << 32 for request in forbidden),
        )
        return [raw("ioctl", terminal, request, address) for request in requests]

    results, counts = under_notifying_filter(attempt)
    assert results == [-errno.EPERM] * 12
    assert counts == {"ioctl": 12}


def test_terminals_work_otherwise() -> None:
    def attempt() -> list[int]:
        _, terminal = os.openpty()
        settings = ctypes.create_string_buffer(64)  # the kernel writes there: it has to live until then
        address = ctypes.addressof(settings)
        return [
            raw("ioctl", terminal, 0x5401, address),
            raw("ioctl", terminal, 0x5401 | RUBBISH_ABOVE, address),
            os.isatty(terminal),
        ]

    assert under_notifying_filter(attempt) == ([0, 0, True], Counter())


def test_personality_can_be_asked_for_and_made_predictable_but_not_loosened() -> None:
    query, no_randomize, read_implies_exec, mmap_page_zero = 0xFFFFFFFF, 0x0040000, 0x0400000, 0x0100000

    def attempt() -> list[int]:
        values = (query, no_randomize, 0, read_implies_exec, mmap_page_zero, no_randomize | read_implies_exec)
        return [min(raw("personality", value), 0) for value in values]

    assert under_plain_filter(attempt) == [0, 0, 0, *[-errno.EPERM] * 3]


def test_prctl_names_a_process_but_does_not_rewrite_what_the_kernel_tells_of_it() -> None:
    set_name, set_mm, sched_core, memory_merge = 15, 35, 62, 67

    def attempt() -> list[int]:
        name = ctypes.create_string_buffer(b"guest")
        return [
            raw("prctl", set_name, ctypes.addressof(name), 0, 0, 0),
            *(raw("prctl", n) for n in (set_mm, sched_core, memory_merge)),
        ]

    assert under_plain_filter(attempt) == [0, *[-errno.EPERM] * 3]


def test_pages_cannot_be_offered_for_merging_with_those_of_others() -> None:
    dont_need, mergeable = 4, 12

    def attempt() -> list[int]:
        memory = mmap.mmap(-1, 4096)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        return [raw("madvise", address, 4096, advice) for advice in (dont_need, mergeable, mergeable | RUBBISH_ABOVE)]

    assert under_plain_filter(attempt) == [0, -errno.EINVAL, -errno.EINVAL]


def test_limits_and_priority_of_process_1_are_out_of_reach() -> None:
    def attempt() -> list[int]:
        found = ctypes.create_string_buffer(16)
        limits = ctypes.addressof(found)
        on_init = [
            raw("prlimit64", 1, 7, 0, limits),
            raw("sched_setaffinity", 1, 0, 0),
            raw("sched_setscheduler", 1, 0, 0),
            raw("setpriority", 0, 1, 0),
            raw("ioprio_set", 1, 1, 0),
        ]
        return [*on_init, raw("prlimit64", 0, 7, 0, limits), raw("setpriority", 0, 0, 5)]

    assert under_plain_filter(attempt) == [*[-errno.EPERM] * 5, 0, 0]


@only_x86_64
def test_x32_calls_are_refused_and_counted() -> None:
    results, counts = under_notifying_filter(lambda: [raw(0x40000000 | number) for number in (39, 102, 520)])
    assert results == [-errno.ENOSYS] * 3
    assert counts == {seccomp.FOREIGN_NAME: 3}


def getpid_as_i386() -> int:
    """mov eax, 20 (getpid of i386); int 0x80; ret"""
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()


@only_x86_64
def test_i386_calls_are_refused_and_counted() -> None:
    control = os.fork()
    if not control:
        os._exit(0 if getpid_as_i386() == os.getpid() else 1)
    if os.waitpid(control, 0)[1] != 0:
        pytest.skip("this kernel runs no i386 calls at all")
    assert under_plain_filter(getpid_as_i386) == -errno.ENOSYS
    assert under_notifying_filter(getpid_as_i386) == (-errno.ENOSYS, Counter([seccomp.FOREIGN_NAME]))


def test_unknown_numbers_are_absent_and_no_news() -> None:
    assert under_notifying_filter(lambda: [raw(400), raw(600)]) == ([-errno.ENOSYS] * 2, Counter())


def test_refusals_in_children_are_counted_too() -> None:
    def attempt() -> int:
        for _ in range(3):
            if not os.fork():
                os._exit(-raw("ptrace", 0, 0, 0, 0))
        return sum(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(3))

    assert under_notifying_filter(attempt) == (3 * errno.EPERM, Counter(ptrace=3))


def test_a_call_that_signals_interrupt_is_refused_all_the_same() -> None:
    def attempt() -> list[int]:
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.siginterrupt(signal.SIGALRM, False)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        results = [raw("ptrace", 0, 0, 0, 0) for _ in range(200)]
        signal.setitimer(signal.ITIMER_REAL, 0)
        return results

    results, counts = under_notifying_filter(attempt)
    assert results == [-errno.EPERM] * 200
    assert counts["ptrace"] >= 200


def test_a_caller_that_died_is_no_error_to_its_listener() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = start(lambda: raw("ptrace", 0, 0, 0, 0), theirs, notify=True)
        listener = take_listener(ours)
        try:
            poll = select.poll()
            poll.register(listener, select.POLLIN)
            assert poll.poll(20_000) == [(listener, select.POLLIN)]
            os.kill(pid, signal.SIGKILL)
            end(pid)
            assert seccomp.answer_one(listener) is None
            assert poll.poll(0) == [(listener, select.POLLHUP)]
        finally:
            os.close(listener)


def test_a_caller_whose_listener_is_gone_is_still_refused() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = start(lambda: (theirs.recv(1), os._exit(-raw("ptrace", 0, 0, 0, 0))), theirs, notify=True)
        os.close(take_listener(ours))
        ours.send(b"g")
        assert os.waitstatus_to_exitcode(end(pid)) == errno.ENOSYS


def exit_code_of_fork(body: Callable[[], int]) -> int:
    pid = os.fork()
    if not pid:
        try:
            os._exit(body())
        finally:
            os._exit(70)
    return os.waitstatus_to_exitcode(end(pid))


def test_the_listener_is_closed_at_execve() -> None:
    def attempt() -> int:
        capabilities.forbid_new_privileges()
        listener = seccomp.install(seccomp.build(notify=True), listen=True)
        return 0 if listener is not None and fcntl.fcntl(listener, fcntl.F_GETFD) & fcntl.FD_CLOEXEC else 1

    assert exit_code_of_fork(attempt) == 0


def test_a_filter_without_forbidding_new_privileges_first_is_an_error() -> None:
    def attempt() -> int:
        if capabilities.effective():
            capabilities.drop_all()
        try:
            seccomp.install(seccomp.build(notify=False), listen=False)
        except PermissionError:
            return 0
        return 1

    if "NoNewPrivs:\t1" in Path("/proc/self/status").read_text():
        pytest.skip("new privileges are forbidden to this process already")
    assert exit_code_of_fork(attempt) == 0


def test_what_is_no_listener_is_an_error() -> None:
    with open(os.devnull, "rb") as null, pytest.raises(OSError, match="Inappropriate ioctl"):
        seccomp.answer_one(null.fileno())


def test_a_program_under_the_filter_can_put_on_one_of_its_own_but_not_listen_to_itself() -> None:
    def attempt() -> list[int]:
        allow_all = ctypes.create_string_buffer(struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000))
        program = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", 1, ctypes.addressof(allow_all)))
        set_filter, new_listener = 1, 8
        return [raw("seccomp", set_filter, flags, ctypes.addressof(program)) for flags in (0, new_listener)]

    assert under_notifying_filter(attempt)[0] == [0, -errno.EBUSY]


def test_names_of_calls() -> None:
    assert seccomp.name_of(KNOWN["ptrace"]) == "ptrace"
    assert seccomp.name_of(4000) == "system call 4000"


PYTHON_AT_WORK = """
import asyncio, concurrent.futures, mmap, multiprocessing, os, socket, sqlite3, subprocess, tempfile, threading
async def echo():
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    assert await reader.read() == b""
    server.close()
if __name__ == "__main__":
    asyncio.run(echo())
    socket.socketpair()[0].close()
    assert subprocess.run(["sh", "-c", "echo hi | cat"], capture_output=True).stdout == b"hi\\n"
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(len, ["a"] * 8)) == 8
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    with tempfile.TemporaryDirectory() as folder:
        sqlite3.connect(f"{folder}/db").execute("create table t (n)").close()
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    os.setpriority(os.PRIO_PROCESS, 0, 5)
    print("fine")
"""
C_AT_WORK = """
#include <pthread.h>
#include <stdio.h>
static void *work(void *_) { return _; }
int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, work, 0) || pthread_join(thread, 0)) return 1;
    puts("fine");
}
"""
NODE_AT_WORK = """
const { Worker } = require("worker_threads");
const fs = require("fs"), net = require("net"), { execFileSync } = require("child_process");
const server = net.createServer(s => s.end()).listen(0, "127.0.0.1", () => {
  net.connect(server.address().port).on("close", () => {
    server.close();
    new Worker("1", { eval: true }).on("exit", () => {
      execFileSync("true"); fs.promises.readFile(process.execPath).then(() => console.log("fine"));
    });
  }).resume();
});
"""


def test_python_works_as_ever() -> None:
    assert run_program([sys.executable, "-c", PYTHON_AT_WORK]) == (0, "fine\n", Counter())


def test_a_shell_works_as_ever() -> None:
    script = "set -e; for i in 1 2; do sleep 0; done; (exit 3) || echo $? | tr 3 f; ulimit -n 64; wait; kill -0 $$"
    assert run_program(["bash", "-c", script]) == (0, "f\n", Counter())


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_a_c_program_is_compiled_and_runs_its_threads(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(C_AT_WORK)
    built = run_program(["gcc", "-O1", "-pthread", "-o", "main", "main.c"], str(tmp_path))
    assert built == (0, "", Counter())
    assert run_program(["./main"], str(tmp_path)) == (0, "fine\n", Counter())


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_node_works_as_ever() -> None:
    code, output, _ = run_program(["node", "-e", NODE_AT_WORK])
    assert (code, output) == (0, "fine\n")


@pytest.mark.parametrize(
    "argv", [["java", "-version"], ["go", "env", "GOOS"], ["ruby", "-e", "puts 1"], ["php", "-r", "echo 1;"]]
)
def test_other_runtimes_start(argv: list[str]) -> None:
    if not shutil.which(argv[0]):
        pytest.skip(f"needs {argv[0]}")
    code, output, counts = run_program(argv)
    assert code == 0, output
    assert not counts


@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
def test_bubblewrap_takes_the_plain_program() -> None:
    source = "import os, socket\ntry: socket.socket(40, 1)\nexcept OSError as error: print(error.errno)"
    descriptor = os.memfd_create("filter")
    try:
        os.write(descriptor, seccomp.build(notify=False))
        os.lseek(descriptor, 0, os.SEEK_SET)
        argv = ["bwrap", "--ro-bind", "/", "/", "--seccomp", str(descriptor), sys.executable, "-c", source]
        done = subprocess.run(argv, pass_fds=[descriptor], capture_output=True, text=True, timeout=60)
    finally:
        os.close(descriptor)
    assert (done.returncode, done.stdout) == (0, f"{errno.EAFNOSUPPORT}\n"), done.stderr
