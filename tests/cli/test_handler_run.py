"""`sandbox-run` as a process of its own: flags, configuration, formats, exit codes."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cli.commands import clean_environment, run
from tests.conftest import skip_where_memory_is_not_counted

COMMAND = [sys.executable, "-c", "from sandbox_runtime.cli.handler_run import main; main()"]
ECHO = "def handler(event, context):\n    print('seen')\n    return {'event': event, 'name': context.function_name}\n"


def call(folder: Path, code: str, *flags: str, name: str = "handler.py", **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / name).write_text(code)
    env = clean_environment(HOME=str(folder / "home"), **environment)
    done = run("sandbox_runtime.cli.handler_run", name, *flags, cwd=folder, env=env)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def told(folder: Path, code: str, *flags: str, **more: Any) -> dict[str, Any]:
    done = call(folder, code, *flags, "--format", "json", **more)
    assert done.stdout, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.requirement("workspace-6.01", "workspace-6.02")
def test_an_event_and_a_context_come_as_json_or_from_files(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text('{"from": "file"}')
    (tmp_path / "c.json").write_text('{"function_name": "filed"}')
    assert told(tmp_path, ECHO)["result"] == {"event": {}, "name": "unknown-function"}
    assert told(tmp_path, ECHO, "-e", '{"a": [1]}', "-c", '{"function_name": "f"}')["result"] == {
        "event": {"a": [1]},
        "name": "f",
    }
    assert told(tmp_path, ECHO, "--event", "{}", "--context", "{}")["exit_code"] == 0
    answer = told(tmp_path, ECHO, "-f", "e.json", "--context-file", "c.json")
    assert answer["result"] == {"event": {"from": "file"}, "name": "filed"}


@pytest.mark.requirement("workspace-6.06")
def test_json_has_the_standard_keys(tmp_path: Path) -> None:
    answer = told(tmp_path, ECHO)
    assert list(answer) == ["exit_code", "stdout", "stderr", "result", "metrics"]
    assert set(answer["metrics"]) == {"duration_ms", "cpu_time_ms", "memory_peak_mb"}
    assert (answer["exit_code"], answer["stdout"], answer["stderr"]) == (0, "seen\n", "")
    assert "timestamp" in told(tmp_path, ECHO, "-v")


@pytest.mark.requirement("workspace-6.06")
def test_yaml_says_the_same_as_json(tmp_path: Path) -> None:
    code = """
def handler(event):
    print("a: b\\n- c")
    return {"no": "yes", "": None, "nested": [[], {}, [1, {"k": "\\u2028 é 'q' #"}]], "1": 1.5, "-": True, "long": "x" * 200}
"""
    done = call(tmp_path, code, "--format", "yaml")
    read = yaml.safe_load(done.stdout)
    assert read["result"] == told(tmp_path, code)["result"] and read["stdout"] == "a: b\n- c\n"
    assert list(read) == ["exit_code", "stdout", "stderr", "result", "metrics"]


@pytest.mark.requirement("workspace-6.05")
def test_pretty_has_its_sections(tmp_path: Path) -> None:
    code = "import sys\ndef handler(e):\n    print('o'); print('e', file=sys.stderr)\n    return {'r': 1}"
    plain = call(tmp_path, code)
    assert plain.stdout.startswith("✓ ") and "\x1b" not in plain.stdout
    titles = [line for line in plain.stdout.splitlines() if line.isupper()]
    assert titles == ["STDOUT", "STDERR", "RESULT"] and '"r": 1' in plain.stdout
    assert "METRICS" in call(tmp_path, code, "--profile").stdout and "METRICS" in call(tmp_path, code, "-p").stdout
    verbose = call(tmp_path, code, "--verbose").stdout
    assert "METRICS" in verbose and "DETAILS" in verbose and "namespaces" in verbose
    failed = call(tmp_path, "def handler(e): raise ValueError('no')")
    assert failed.stdout.startswith("✗ ") and "ValueError: no" in failed.stdout and "RESULT" not in failed.stdout


@pytest.mark.requirement("workspace-6.05")
@pytest.mark.parametrize("colors", [True, False])
def test_a_terminal_has_colours_unless_they_are_switched_off(tmp_path: Path, colors: bool) -> None:
    (tmp_path / ".sandboxrc.json").write_text(json.dumps({"cli": {"enable_colors": colors}}))
    (tmp_path / "handler.py").write_text(ECHO)
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run([*COMMAND, "handler.py", "-q"], stdout=theirs, cwd=tmp_path, env=clean_environment(), timeout=60)
        assert done.returncode == 0 and (b"\x1b[32m" in os.read(ours, 65_536)) is colors
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.requirement("workspace-6.01")
@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR"])
def test_log_levels_are_taken_and_do_not_mix_with_the_result(tmp_path: Path, level: str) -> None:
    assert told(tmp_path, ECHO, "--log-level", level)["exit_code"] == 0


@pytest.mark.requirement("workspace-6.03")
def test_quiet_drops_the_informational_lines(tmp_path: Path) -> None:
    assert "handler.py" in call(tmp_path, ECHO).stderr
    assert call(tmp_path, ECHO, "-q").stderr == call(tmp_path, ECHO, "--quiet").stderr == ""


@pytest.mark.requirement("workspace-6.03")
def test_the_result_can_go_into_a_file(tmp_path: Path) -> None:
    done = call(tmp_path, ECHO, "--format", "json", "-o", "out.json", "-q")
    assert done.stdout == "" and json.loads((tmp_path / "out.json").read_text())["exit_code"] == 0
    assert call(tmp_path, ECHO, "--output", "no/such/folder/x").returncode == 1


@pytest.mark.requirement("workspace-6.01")
def test_the_version_is_told(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("sandbox-run ")


@pytest.mark.requirement("workspace-6.04")
@pytest.mark.parametrize(
    ("code", "flags", "exit_code", "inner"),
    [
        ("def handler(e): return 1", [], 0, 0),
        ("def handler(e): raise ValueError", [], 1, 2),
        ("def handler(e): return object()", [], 1, 3),
        ("def handler(e:", [], 3, 1),
        ("x = 1", [], 3, 1),
        ("import time\ndef handler(e): time.sleep(60)", ["-t", "1"], 4, 5),
        ("import time\ndef handler(e): time.sleep(60)", ["-e", '{"__timeout": 1}'], 4, 5),
        ("def handler(e): return len(b'x' * 10**9)", [], 137, 137),
    ],
)
def test_exit_codes_tell_how_it_ended(tmp_path: Path, code: str, flags: list[str], exit_code: int, inner: int) -> None:
    skip_where_memory_is_not_counted(exit_code)
    done = call(tmp_path, code, *flags, "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["exit_code"]) == (exit_code, inner)


@pytest.mark.requirement("workspace-6.04")
@pytest.mark.parametrize(
    ("flags", "exit_code"),
    [
        (["-e", "{"], 1),
        (["-e", "[1]"], 1),
        (["-e", "{}", "-f", "e.json"], 1),
        (["-c", "{}", "--context-file", "e.json"], 1),
        (["--bogus"], 1),
        (["-t", "0"], 1),
        (["-t", "4000"], 1),
        (["--format", "xml"], 1),
        (["-f", "missing.json"], 2),
        (["--context-file", "."], 2),
    ],
)
def test_what_cannot_be_asked_for_is_said(tmp_path: Path, flags: list[str], exit_code: int) -> None:
    done = call(tmp_path, ECHO, *flags)
    assert done.returncode == exit_code and "sandbox-run" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.requirement("workspace-6.04")
def test_a_script_that_cannot_be_read_is_2_and_an_empty_one_3(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, str(tmp_path / "none.py")], capture_output=True, timeout=60)
    assert done.returncode == 2
    (tmp_path / "latin.py").write_bytes(b"# \xff\n")
    assert subprocess.run([*COMMAND, str(tmp_path / "latin.py")], capture_output=True, timeout=60).returncode == 2
    assert call(tmp_path, " \n").returncode == 3


@pytest.mark.requirement("workspace-6.04")
def test_no_sandbox_is_5(tmp_path: Path) -> None:
    done = call(tmp_path, ECHO, SANDBOX_GUEST_PYTHON="/no/such/python")
    assert done.returncode == 5 and "Traceback" not in done.stderr


@pytest.mark.requirement("workspace-6.04")
def test_an_interrupt_is_130_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "h.py").write_text("import time\ndef handler(e):\n    time.sleep(61.25)\n")
    process = subprocess.Popen([*COMMAND, "h.py"], cwd=tmp_path, env=clean_environment(), stderr=subprocess.PIPE)
    assert process.stderr is not None
    process.stderr.readline()
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()


@pytest.mark.requirement("workspace-6.07")
def test_the_configuration_of_the_folder_goes_before_that_of_the_home(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".sandboxrc.json").write_text('{"cli": {"default_format": "json"}}')
    assert call(tmp_path, ECHO).stdout.startswith("{")
    (tmp_path / ".sandboxrc.json").write_text('{"cli": {"show_profile": true}}')
    assert "METRICS" in call(tmp_path, ECHO).stdout


@pytest.mark.requirement("workspace-6.07", "workspace-6.08")
def test_the_configuration_sets_the_limits_of_the_box(tmp_path: Path) -> None:
    code = "def handler(e, c): return [c.memory_limit_in_mb, c.remaining_time_in_millis]"
    assert told(tmp_path, code)["result"] == [256, 300_000]
    config = {"sandbox": {"memory_limit": 65_536, "max_user_progress": 4}, "cli": {"default_timeout": 9}}
    (tmp_path / ".sandboxrc.json").write_text(json.dumps(config))
    assert told(tmp_path, code)["result"] == [64, 9000]
    threads = """
import threading
def handler(event):
    for _ in range(8):
        threading.Thread(target=threading.Event().wait, args=(9,), daemon=True).start()
"""
    assert call(tmp_path, threads).returncode == 1


@pytest.mark.requirement("workspace-6.08")
def test_processor_time_is_a_limit_of_its_own(tmp_path: Path) -> None:
    (tmp_path / ".sandboxrc.json").write_text('{"sandbox": {"cpu_quota": 1}}')
    assert call(tmp_path, "def handler(e):\n    while True: pass", "-t", "30").returncode == 1


@pytest.mark.requirement("workspace-6.07")
@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"box": {}}',
        '{"cli": 5}',
        '{"cli": {"colour": true}}',
        '{"sandbox": {"memory_limit": "much"}}',
        '{"cli": {"default_format": "xml"}}',
        '{"sandbox": {"cpu_quota": 0}}',
        '{"logging": {"level": "LOUD"}}',
    ],
)
def test_a_configuration_that_is_wrong_is_refused_and_not_guessed_at(tmp_path: Path, text: str) -> None:
    (tmp_path / ".sandboxrc.json").write_text(text)
    done = call(tmp_path, ECHO)
    assert done.returncode == 1 and ".sandboxrc.json" in done.stderr


def test_a_handler_sees_nothing_of_the_folder_it_was_called_from(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    code = f"import os\ndef handler(e): return [os.listdir('.'), os.path.exists({str(tmp_path)!r})]"
    assert told(tmp_path, code, SECRET="env")["result"] == [[], False]
    assert "SECRET" not in told(tmp_path, "import os\ndef handler(e): return sorted(os.environ)", SECRET="env")["result"]


def test_javascript_handlers_are_called_as_well(tmp_path: Path) -> None:
    code = "exports.handler = async (event) => ({ twice: event.n * 2 });"
    done = call(tmp_path, code, "-e", '{"n": 4}', "--format", "json", name="handler.js")
    if done.returncode == 5 and "not installed" in done.stderr:
        pytest.skip("JavaScript is not installed: make languages")
    assert json.loads(done.stdout)["result"] == {"twice": 8}


@pytest.mark.requirement("workspace-6.01")
def test_it_is_installed_as_a_command() -> None:
    command = Path(sys.executable).parent / "sandbox-run"
    assert os.access(command, os.X_OK)
