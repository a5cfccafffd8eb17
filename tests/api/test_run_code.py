"""POST /run_code."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from tests.api.servers import Client, b64, serving
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.model import Layer, LayerState
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLEEPS = "import time; print('before', flush=True); time.sleep(60)"


@pytest.mark.requirement("fusion-1.04", "fusion-2.04", "fusion-2.10")
async def test_a_program_that_succeeds(client: Client) -> None:
    answer = await client.run_code("print(sum(range(10)))")
    assert (answer["status"], answer["message"], answer["compile_result"], answer["files"]) == ("Success", "", None, {})
    assert answer["executor_pod_name"] == "pod-7"
    ran = answer["run_result"]
    assert (ran["status"], ran["return_code"], ran["stdout"], ran["stderr"]) == ("Finished", 0, "45\n", "")
    assert 0 < ran["execution_time"] < 10


@pytest.mark.requirement("fusion-2.03", "fusion-2.05", "fusion-2.06")
async def test_the_fields_are_those_of_the_contract_and_ours_beside_them(client: Client) -> None:
    answer = await client.run_code("print(1)")
    contract = {"status", "message", "compile_result", "run_result", "executor_pod_name", "files"}
    assert set(answer) - contract == {"skipped_files"}
    assert set(answer["run_result"]) == {"status", "execution_time", "return_code", "stdout", "stderr", "details"}
    details = answer["run_result"]["details"]
    assert (details["ending"], details["blame"]) == ("exited", "program")
    assert details["isolation"].startswith("namespaces") and details["usage"]["wall_s"] > 0


@pytest.mark.requirement("fusion-2.09")
async def test_a_program_that_fails(client: Client) -> None:
    answer = await client.run_code("import sys; sys.stderr.write('no'); sys.exit(3)")
    assert (answer["status"], answer["message"]) == ("Failed", "")
    assert (answer["run_result"]["return_code"], answer["run_result"]["stderr"]) == (3, "no")


async def test_an_exception_shows_its_traceback(client: Client) -> None:
    ran = (await client.run_code("1/0"))["run_result"]
    assert ran["return_code"] == 1 and "ZeroDivisionError" in ran["stderr"]


@pytest.mark.requirement("fusion-2.13")
async def test_a_death_by_signal_is_a_negative_return_code(client: Client) -> None:
    answer = await client.run_code("import os; os.abort()")
    assert (answer["status"], answer["run_result"]["return_code"]) == ("Failed", -6)


@pytest.mark.requirement("fusion-4.11")
async def test_standard_input_is_given_and_then_ends(client: Client) -> None:
    answer = await client.run_code("import sys; print(sys.stdin.read().upper())", stdin="grüße\n")
    assert answer["run_result"]["stdout"] == "GRÜSSE\n\n"


@pytest.mark.requirement("fusion-4.12")
async def test_null_input_is_an_empty_one(client: Client) -> None:
    answer = await client.run_code("import sys; print(repr(sys.stdin.read()))", stdin=None)
    assert answer["run_result"]["stdout"] == "''\n"


@pytest.mark.requirement("fusion-2.08", "fusion-2.11")
async def test_a_time_limit_keeps_what_was_printed_before(client: Client) -> None:
    answer = await client.run_code(SLEEPS, run_timeout=3)
    ran = answer["run_result"]
    assert (answer["status"], answer["message"]) == ("Failed", "")
    assert (ran["status"], ran["return_code"], ran["stdout"]) == ("TimeLimitExceeded", None, "before\n")
    assert 3 <= ran["execution_time"] < 60 and ran["details"]["blame"] == "limit"


@pytest.mark.requirement("fusion-5.07")
async def test_cpp_is_compiled_and_run(client: Client) -> None:
    code = "#include <iostream>\nint main() { std::string s; std::cin >> s; std::cout << s << s; }"
    answer = await client.run_code(code, "cpp", stdin="ab", compile_timeout=60)
    assert answer["status"] == "Success"
    assert (answer["compile_result"]["status"], answer["compile_result"]["return_code"]) == ("Finished", 0)
    assert answer["run_result"]["stdout"] == "abab"


async def test_cpp_links_with_openssl_where_it_is_installed(client: Client) -> None:
    if "-lcrypto" not in {flag for status in await client.platform.engine.languages(["cpp"]) for flag in status.link_flags}:
        pytest.skip("libssl-dev is not installed")
    code = "#include <openssl/sha.h>\n#include <cstdio>\n"
    code += 'int main() { unsigned char d[32]; SHA256(d, 0, d); std::printf("%02x", d[0]); }'
    assert (await client.run_code(code, "cpp", compile_timeout=60))["run_result"]["stdout"] == "e3"


@pytest.mark.requirement("fusion-2.14")
async def test_what_does_not_compile_is_failed_without_a_run(client: Client) -> None:
    answer = await client.run_code("int main( {", "cpp", compile_timeout=60)
    assert (answer["status"], answer["run_result"]) == ("Failed", None)
    assert answer["compile_result"]["return_code"] != 0 and "error" in answer["compile_result"]["stderr"]


@pytest.mark.requirement("fusion-2.14")
async def test_a_compiler_that_takes_too_long_is_failed_without_a_run(client: Client) -> None:
    answer = await client.run_code('#include "/dev/stdin"\n#include <iostream>\nint main() {}', "cpp", compile_timeout=0.01)
    assert (answer["status"], answer["run_result"]) == ("Failed", None)
    assert answer["compile_result"]["status"] == "TimeLimitExceeded"


async def test_bash_runs(client: Client) -> None:
    answer = await client.run_code("read x; echo $((x * 2))", "bash", stdin="21")
    assert answer["run_result"]["stdout"] == "42\n"


@pytest.mark.requirement("fusion-4.01", "fusion-4.02", "fusion-4.05", "fusion-4.06", "fusion-4.08", "fusion-4.09")
async def test_files_go_in_and_come_out(client: Client) -> None:
    answer = await client.run_code(
        "open('out/b.bin', 'wb').write(open('in/a.bin', 'rb').read()[::-1])",
        files={"in/a.bin": b64(b"\x00\xff1"), "out/.keep": "", "/tmp/x": b64(b"x")},
        fetch_files=["out/b.bin", "missing", "/tmp/x", "./out/b.bin"],
    )
    assert answer["status"] == "Success"
    assert answer["files"] == {"out/b.bin": b64(b"1\xff\x00"), "/tmp/x": b64(b"x"), "./out/b.bin": b64(b"1\xff\x00")}


@pytest.mark.requirement("fusion-3.05", "fusion-4.03", "fusion-4.04")
async def test_null_files_and_ignored_files_are_skipped(client: Client) -> None:
    files = {"a": None, "IGNORE_THIS_FILE_b": b64(b"x"), "c": b64(b"x")}
    answer = await client.run_code("import os; print(sorted(os.listdir()))", files=files)
    assert answer["run_result"]["stdout"] == "['c', 'main.py']\n"


@pytest.mark.requirement("fusion-4.10")
async def test_files_are_fetched_after_a_failed_compilation(client: Client) -> None:
    answer = await client.run_code("int main( {", "cpp", files={"note": b64(b"x")}, fetch_files=["note"], compile_timeout=60)
    assert answer["files"] == {"note": b64(b"x")}


@pytest.mark.requirement("fusion-4.07")
async def test_only_regular_files_are_fetched(client: Client) -> None:
    code = "ln -s /etc/passwd link; mkdir folder; mkfifo fifo; ln -s / root"
    answer = await client.run_code(code, "bash", fetch_files=["link", "folder", "fifo", "root/etc/passwd"])
    assert (answer["status"], answer["files"]) == ("Success", {})


async def test_a_file_with_a_newline_in_its_name_works(client: Client) -> None:
    answer = await client.run_code("print(open('a\\nb').read())", files={"a\nb": b64(b"x")}, fetch_files=["a\nb"])
    assert (answer["run_result"]["stdout"], answer["files"]) == ("x\n", {"a\nb": b64(b"x")})


async def test_a_fetched_file_over_the_bound_is_told_of(client: Client) -> None:
    answer = await client.run_code("open('x', 'w').write('x' * 50_001)", fetch_files=["x"])
    assert answer["files"] == {} and "x" in answer["skipped_files"]


@pytest.mark.requirement("fusion-4.14")
async def test_output_that_is_no_text_is_told_so(client: Client) -> None:
    ran = (await client.run_code("import sys; sys.stdout.buffer.write(b'\\xff\\xfe')"))["run_result"]
    assert ran["stdout"].startswith("[DecodeError] ")


async def test_nul_bytes_in_output_survive(client: Client) -> None:
    assert (await client.run_code("print('a\\0b')"))["run_result"]["stdout"] == "a\0b\n"


@pytest.mark.requirement("fusion-4.13")
async def test_large_output_keeps_head_and_tail_and_tells_what_was_dropped(client: Client) -> None:
    ran = (await client.run_code("print('ä' * 100_000 + 'end')"))["run_result"]
    dropped = ran["details"]["stdout_dropped_bytes"]
    assert ran["stdout"].startswith("ää") and ran["stdout"].endswith("äend\n")
    assert f"[... {dropped} bytes dropped ...]" in ran["stdout"] and dropped > 100_000


async def test_a_program_that_prints_without_end_is_stopped_as_failed(client: Client) -> None:
    answer = await client.run_code("while True: print('x' * 100_000)", run_timeout=30)
    assert answer["status"] == "Failed" and answer["run_result"]["details"]["blame"] == "limit"


async def test_out_of_memory_is_told_as_such(client: Client) -> None:
    answer = await client.run_code("x = bytearray(300_000_000); print(len(x))", memory_limit_MB=64)
    ran = answer["run_result"]
    assert (answer["status"], ran["status"]) == ("Failed", "Finished") and ran["return_code"] not in (0, None)
    if any(report.layer is Layer.memory and report.state is LayerState.on for report in client.platform.backend.layers()):
        assert ran["details"]["ending"] == "out_of_memory" and "memory" in ran["stderr"]
    else:
        assert "MemoryError" in ran["stderr"]


async def test_without_a_memory_limit_the_ceiling_holds(client: Client) -> None:
    answer = await client.run_code("x = bytearray(300_000_000); print(len(x))")
    assert answer["status"] == "Success"


@pytest.mark.requirement("fusion-3.03")
@pytest.mark.parametrize("language", ["lean", "swift", "cuda", "python_gpu"])
async def test_a_language_that_is_not_installed_is_a_sandbox_error(client: Client, language: str) -> None:
    answer = await client.run_code("x", language)
    assert (answer["status"], answer["compile_result"], answer["run_result"]) == ("SandboxError", None, None)
    assert language in answer["message"]


async def test_unknown_fields_are_tolerated(client: Client) -> None:
    assert (await client.run_code("print(1)", priority="high"))["status"] == "Success"


async def test_a_module_named_like_the_program_can_be_imported(client: Client) -> None:
    answer = await client.run_code("import main; print(main.x)", files={"main.py": b64(b"x = 7")})
    assert answer["run_result"]["stdout"] == "7\n"


async def test_base64_with_line_breaks_is_accepted(client: Client) -> None:
    content = base64.encodebytes(b"x" * 200).decode()
    assert (await client.run_code("print(len(open('a').read()))", files={"a": content}))["run_result"]["stdout"] == "200\n"


async def test_no_box_is_left_in_use(client: Client) -> None:
    await client.run_code("print(1)")
    assert client.platform.pool.in_use == 0 and client.platform.admission.busy == 0


@pytest.mark.requirement("fusion-4.16", "fusion-5.04")
@pytest.mark.parametrize("isolation", ["namespaces", "bubblewrap", "none"])
async def test_the_memory_limit_holds_and_is_told_in_every_isolation(isolation: str, tmp_path: Path) -> None:
    skip_where_the_host_lacks(isolation)
    async with serving(
        Settings(state_dir=str(tmp_path), isolation=isolation, pool_size=0, check_languages=False, log_level="error")
    ) as opened:
        answer = await opened.run_code("x = bytearray(300_000_000); print(len(x))", memory_limit_MB=64)
    ran = answer["run_result"]
    assert answer["status"] == "Failed" and ran["return_code"] != 0 and "300000000" not in ran["stdout"]
    assert ran["details"]["limits"]["memory_bytes"] == 64 * 1024 * 1024


@pytest.mark.requirement("fusion-4.16")
@pytest.mark.parametrize("megabytes", [-1, 0, -7])
async def test_a_memory_limit_of_zero_or_less_is_none(client: Client, megabytes: int) -> None:
    answer = await client.run_code("print(1)", memory_limit_MB=megabytes)
    ceiling = client.platform.settings.memory_ceiling
    assert answer["run_result"]["details"]["limits"] == {"wall_s": 10, "memory_bytes": ceiling}


@pytest.mark.requirement("fusion-5.03")
@pytest.mark.parametrize("folder", ["/tmp", "/mnt", "$HOME", "."])
async def test_writes_where_programs_expect_to_write_succeed_and_vanish(client: Client, folder: str) -> None:
    code = f"cat {folder}/left 2>/dev/null; echo x > {folder}/left && cat {folder}/left"
    for _ in range(2):
        assert (await client.run_code(code, "bash"))["run_result"]["stdout"] == "x\n"


@pytest.mark.requirement("fusion-4.13")
async def test_a_mebibyte_of_output_arrives_whole(tmp_path: Path) -> None:
    async with serving(Settings(state_dir=str(tmp_path), pool_size=0, check_languages=False, log_level="error")) as opened:
        answer = await opened.run_code("print('x' * 1024 * 1024, end='')")
    assert answer["run_result"]["stdout"] == "x" * 1024 * 1024


@pytest.mark.requirement("fusion-2.15")
async def test_a_process_that_a_program_left_running_does_not_outlive_it(client: Client) -> None:
    ran = (await client.run_code("sleep 1000 & disown; echo $!", "bash"))["run_result"]
    assert ran["return_code"] == 0 and client.platform.pool.in_use == 0
