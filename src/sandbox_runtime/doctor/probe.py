"""What attack programs share: output format, raw system calls, and facts from the runner.

Copied into each box as probe.py, next to the program and facts.json. Runs in the guest's interpreter: standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import mmap
import os
import select
import socket
import struct
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

REFUSALS = (errno.EPERM, errno.ENOSYS, errno.EACCES)


def facts() -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "facts.json"), encoding="utf-8") as file:
        facts: dict[str, Any] = json.load(file)
    return facts


def escaped(what: str) -> NoReturn:
    print(f"ESCAPED: {what}", flush=True)
    os._exit(0)


def held(why: str) -> NoReturn:
    print(f"HELD: {why}", flush=True)
    os._exit(0)


def ready(text: str = "") -> None:
    """Let the other program begin and pass it this text."""
    print(f"READY {text}", flush=True)


def wait_for_other() -> None:
    """Return when the other program has ended."""
    sys.stdin.read()


def call(name: str, *arguments: int | bytes | None) -> int:
    """Make a raw system call. Returns its result, or the negative errno."""
    number = facts()["calls"].get(name)
    return -errno.ENOSYS if number is None else call_number(number, *arguments)


def call_number(number: int, *arguments: int | bytes | None) -> int:
    words = [ctypes.c_char_p(word) if isinstance(word, bytes) else ctypes.c_long(word or 0) for word in arguments]
    ctypes.set_errno(0)
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    return -ctypes.get_errno() if result == -1 else result


def result_text(result: int) -> str:
    return errno.errorcode.get(-result, str(result)) if result < 0 else f"result {result}"


def must_be_refused(attempts: Iterable[tuple[Any, ...]], refusals: tuple[int, ...] = REFUSALS) -> NoReturn:
    """Make each call; an attempt is its name and arguments. Any answer but a refusal means that the call got through."""
    names = []
    for name, *arguments in attempts:
        result = call(name, *arguments)
        if result >= 0 or -result not in refusals:
            escaped(f"{name} was let through ({result_text(result)})")
        names.append(name)
    held(f"refused: {' '.join(names)}")


def must_fail(action: str, attempt: Any, *arguments: Any) -> str:
    """Run the attempt, which must fail, and return the name of its errno."""
    try:
        attempt(*arguments)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    escaped(action)


def status(field: str, pid: str = "self") -> str:
    """Return one field of /proc/PID/status."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(line.split(":", 1)[1].strip() for line in file if line.startswith(f"{field}:"))


def processes() -> list[int]:
    """Return every visible process."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def answers(address: str, port: int, wait_s: float = 0.5) -> str:
    """Connect and return what a listener at this address sends; "" if refused or silent."""
    try:
        with socket.create_connection((address, port), timeout=wait_s) as connection:
            return connection.recv(100).decode()
    except OSError:
        return ""


def answers_datagram(address: str, port: int, wait_s: float = 0.3) -> str:
    """The same for a datagram."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(wait_s)
        try:
            sock.sendto(b"?", (address, port))
            return sock.recv(100).decode()
        except OSError:
            return ""


def need_network() -> None:
    """Exit if the box has no network: an attack on the network would prove nothing."""
    lab = facts()
    for address in lab["public"]:
        if not answers(address, lab["port"], 5.0):
            raise SystemExit(f"{address} is unreachable: this box has no network")


def i386_call(number: int) -> int:
    """Make a call without arguments through the 32-bit entry: mov eax, number; int 0x80; cdqe; ret."""
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8" + struct.pack("<I", number) + b"\xcd\x80\x48\x98\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return int(ctypes.CFUNCTYPE(ctypes.c_long)(address)())


def memory_regions() -> Iterable[tuple[int, int]]:
    """Yield the readable parts of our own memory that hold data."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    for line in lines:
        span, rights, *rest = line.split(None, 5)
        if rights.startswith("r") and not (rest and rest[-1] in ("[vvar]", "[vsyscall]", "[vvar_vclock]")):
            start, end = (int(part, 16) for part in span.split("-"))
            yield start, end


def swap_for_links() -> NoReturn:
    """Swap files and folders for links to the host's secret, over and over, until the host closes standard input.

    `folder` is a real folder or a link to the folder of the secret; `swapped` is a real file or a link to the secret.
    """
    secret = facts()["secret_file"]
    os.makedirs("real/deep", exist_ok=True)
    for name in ("real/secret", "real/deep/secret", "mine"):
        with open(name, "w", encoding="ascii") as file:
            file.write("mine")
    ready()
    while not select.select([0], [], [], 0)[0]:
        _swap_folder(os.path.dirname(secret))
        _swap_file(secret)
    held("the race is over")


def _swap_folder(outside: str) -> None:
    with contextlib.suppress(OSError):
        os.makedirs("real/deep", exist_ok=True)
        os.rename("real", "folder")
    with contextlib.suppress(OSError):
        os.rename("folder", "real")
    with contextlib.suppress(OSError):
        os.symlink(outside, "folder")
    with contextlib.suppress(OSError):
        os.unlink("folder")


def _swap_file(secret: str) -> None:
    with contextlib.suppress(OSError):
        os.symlink(secret, "link")
        os.rename("link", "swapped")
    with contextlib.suppress(OSError):
        os.link("mine", "honest")
        os.rename("honest", "swapped")
