"""Which host users boxes run as."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation import users

FAR = 3_000_000_000
"""Users that no server of this machine draws from."""
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def test_two_servers_of_one_machine_draw_from_different_ranges() -> None:
    with users.lease(FAR, 100) as one, users.lease(FAR, 100) as other:
        assert (one, other) == (FAR, FAR + 100)
    with users.lease(FAR, 100) as again:
        assert again == FAR


def test_where_all_ranges_are_taken_the_error_says_what_to_do() -> None:
    with pytest.raises(Unavailable, match="box_uid_base"), users.lease(2**32 - 50, 100):
        pass


def test_the_threads_of_a_user_are_counted() -> None:
    with socket.socketpair()[0] as never:
        waiting = [threading.Thread(target=never.recv, args=(1,), daemon=True) for _ in range(5)]
        for thread in waiting:
            thread.start()
        assert users.count_tasks(os.geteuid()) >= 6
        never.shutdown(socket.SHUT_RDWR)
        for thread in waiting:
            thread.join(30)
    assert users.count_tasks(FAR) == 0


@AS_ROOT
@pytest.mark.parametrize(
    ("text", "may"),
    [("0 0 4294967295\n", True), ("0 1000 1\n", False), ("0 100000 65536\n", False), ("0 0 1\n1 100000 300000\n", True)],
)
def test_root_may_choose_only_users_that_it_was_given(tmp_path: Path, text: str, may: bool) -> None:
    (tmp_path / "uid_map").write_text(text)
    assert users.can_assign_uids(200_000, 4096, str(tmp_path / "uid_map")) is may


@AS_ROOT
@pytest.mark.parametrize("isolation", ["namespaces", "bubblewrap"])
def test_root_of_a_namespace_with_one_user_makes_boxes_as_a_plain_user_does(
    isolation: str, guest_python: str, tmp_path: Path
) -> None:
    if isolation == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    (tmp_path / "main.py").write_text("import os\nprint(os.getuid(), os.getpid() > 1)\n")
    call = "from sandbox_runtime.cli.main import main; main()"
    words = [sys.executable, "-c", call, "run", str(tmp_path / "main.py"), "--isolation", isolation]
    settings = [f"--set=state_dir={tmp_path}/state", f"--set=guest_python={guest_python}"]
    enclosed = ["unshare", "--user", "--map-root-user", "--mount", "--fork", *words, *settings]
    done = subprocess.run(enclosed, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "1000 True\n"), done.stderr
