"""SandboxRunner: a blocking client of the sandbox API (/api/v1/sandboxes) with the names of the original client.

    with SandboxRunner("http://localhost:8080") as runner, runner.create_sandbox() as sandbox:
        print(sandbox.run_python("print(6 * 7)").stdout)

A failed program is a result with success False; an error of the server is raised. There are no retries: use SandboxClient for
those.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from sandbox_runtime.errors import SandboxError

_SLACK_S = 330.0
"""Added to the program's timeout, for installing packages and waiting in the queue."""


class SandboxRunnerError(SandboxError):
    """code: the HTTP status; 0 where no answer came. details: as the server sent them."""

    def __init__(self, message: str, code: int = 0, details: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.details = details


class APIError(SandboxRunnerError):
    """The server returned an error, or could not be reached."""


class SandboxNotFoundError(APIError):
    """The object does not exist, or belongs to another owner."""


class ExecutionError(SandboxRunnerError):
    """A program failed: raised by ExecutionResult.check."""


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """duration: seconds. status: completed, failed, timeout, crashed or cancelled."""

    stdout: str
    stderr: str
    exit_code: int
    duration: float
    status: str
    language: str = ""

    @property
    def success(self) -> bool:
        return self.status == "completed" and self.exit_code == 0

    def check(self) -> Self:
        """Return self, or raise ExecutionError if the program failed."""
        if not self.success:
            raise ExecutionError(f"{self.status}, exit code {self.exit_code}: {self.stderr[-500:]}", self.exit_code)
        return self


class SandboxRunner:
    """`transport`: an httpx transport, for tests and proxies."""

    def __init__(
        self,
        base_url: str = "http://localhost:8080",
        api_key: str | None = None,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        base = f"{base_url.rstrip('/')}/api/v1"
        self._http = httpx.Client(base_url=base, headers=headers, timeout=timeout, transport=transport)

    def create_sandbox(
        self,
        image: str = "",
        workspace_dir: str = "/workspace",
        environment: Mapping[str, str] | None = None,
        *,
        name: str = "",
        cpu_limit: str | None = None,
        memory_limit: str | None = None,
        disk_limit: str | None = None,
        network_mode: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        ttl: float | None = None,
    ) -> RunnerSandbox:
        """Create a sandbox. `workspace_dir` must be /workspace."""
        if workspace_dir.rstrip("/") != "/workspace":
            raise APIError("workspace_dir must be /workspace, or omitted", 400)
        limits = {"cpu_limit": cpu_limit, "memory_limit": memory_limit, "disk_limit": disk_limit}
        body = {
            "name": name,
            "image": image,
            "environment": dict(environment or {}),
            "resources": {key: value for key, value in limits.items() if value is not None},
            "metadata": dict(metadata or {}),
            "network_mode": network_mode,
            "ttl": ttl,
        }
        return RunnerSandbox(self, self.call("POST", "/sandboxes", body))

    def get_sandbox(self, sandbox_id: str) -> RunnerSandbox:
        return RunnerSandbox(self, self.call("GET", f"/sandboxes/{quote(sandbox_id, safe='')}"))

    def list_sandboxes(self) -> list[dict[str, Any]]:
        """Return up to 100 live sandboxes, newest first."""
        return list(self.call("GET", "/sandboxes?page_size=100")["data"])

    def call(self, method: str, path: str, body: Any = None, timeout: float | None = None) -> dict[str, Any]:
        """Send a request to the API. Raises APIError."""
        try:
            answer = self._http.request(method, path, json=body, timeout=self._http.timeout if timeout is None else timeout)
        except httpx.HTTPError as error:
            raise APIError(f"no answer from {self._http.base_url}: {str(error) or type(error).__name__}") from error
        if answer.is_error:
            raise _to_error(answer)
        return dict(answer.json()) if answer.content else {}

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class RunnerSandbox:
    """A sandbox. As a context manager it is terminated at the end of the block."""

    def __init__(self, runner: SandboxRunner, info: Mapping[str, Any]) -> None:
        self._runner = runner
        self.info = dict(info)
        self.id = str(info["id"])
        self._path = f"/sandboxes/{quote(self.id, safe='')}"

    def run_code(
        self,
        code: str,
        language: str | None = None,
        packages: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        stdin: str | None = None,
    ) -> ExecutionResult:
        """Run a program. Without a language the server detects it."""
        body = {"code": code, "language": language, "packages": list(packages), "environment": dict(environment or {})}
        payload = self._runner.call(
            "POST", f"{self._path}/code", {**body, "timeout": timeout, "input": stdin}, timeout + _SLACK_S
        )
        return _result(payload, payload.get("output", ""), payload.get("error", ""))

    def run_python(self, code: str, packages: Sequence[str] = (), **more: Any) -> ExecutionResult:
        return self.run_code(code, "python", packages, **more)

    def run_javascript(self, code: str, packages: Sequence[str] = (), **more: Any) -> ExecutionResult:
        return self.run_code(code, "nodejs", packages, **more)

    def run_typescript(self, code: str, packages: Sequence[str] = (), **more: Any) -> ExecutionResult:
        return self.run_code(code, "typescript", packages, **more)

    def run_go(self, code: str, packages: Sequence[str] = (), **more: Any) -> ExecutionResult:
        return self.run_code(code, "go", packages, **more)

    def run_rust(self, code: str, packages: Sequence[str] = (), **more: Any) -> ExecutionResult:
        return self.run_code(code, "rust", packages, **more)

    def run_shell(self, code: str, **more: Any) -> ExecutionResult:
        return self.run_code(code, "bash", **more)

    def exec_command(
        self,
        command: str,
        args: Sequence[str] | None = None,
        working_dir: str = "/workspace",
        environment: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        stdin: str | None = None,
    ) -> ExecutionResult:
        """Run a command without a shell. `command` is split into words, or is the program if `args` are given."""
        body: dict[str, Any] = {"command": command, "args": None if args is None else list(args), "working_dir": working_dir}
        body["environment"] = dict(environment or {})
        payload = self._runner.call(
            "POST", f"{self._path}/exec", {**body, "timeout": timeout, "input": stdin}, timeout + _SLACK_S
        )
        return _result(payload, payload.get("stdout", ""), payload.get("stderr", ""))

    def write_file(self, path: str, content: str | bytes) -> dict[str, Any]:
        raw = content.encode() if isinstance(content, str) else content
        body = {"content": base64.b64encode(raw).decode(), "encoding": "base64"}
        return self._runner.call("PUT", self._file(path), body)

    upload_file = write_file

    def download_file(self, path: str) -> bytes:
        payload = self._runner.call("GET", f"{self._file(path)}?encoding=base64")
        return base64.b64decode(payload["content"])

    def read_file(self, path: str) -> str:
        return self.download_file(path).decode()

    def list_files(self, path: str = "/workspace", recursive: bool = False) -> list[dict[str, Any]]:
        """Return all files, fetched page by page."""
        found: list[dict[str, Any]] = []
        while True:
            query = f"path={quote(path)}&recursive={str(recursive).lower()}&page_size=100&page_offset={len(found)}"
            payload = self._runner.call("GET", f"{self._path}/files?{query}")
            found += payload["data"]
            if not payload["pagination"]["has_next"]:
                return found

    def terminate(self) -> None:
        self._runner.call("DELETE", self._path)

    def _file(self, path: str) -> str:
        """Return the URL path of a file. The prefix /workspace/ is optional."""
        return f"{self._path}/files/{quote(path.removeprefix('/workspace/').lstrip('/'))}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.terminate()


def _result(payload: Mapping[str, Any], stdout: str, stderr: str) -> ExecutionResult:
    exit_code = payload.get("exit_code", -1)
    return ExecutionResult(stdout, stderr, exit_code, payload["duration"], payload["status"], payload.get("language", ""))


def _to_error(answer: httpx.Response) -> APIError:
    """Return the error of a response. Proxies in front of the API may send other bodies."""
    try:
        body = answer.json()
    except ValueError:
        body = {}
    error = body.get("error") if isinstance(body, dict) else None
    payload = error if isinstance(error, dict) else {"message": body.get("message") if isinstance(body, dict) else None}
    message = str(payload.get("message") or f"the server answered {answer.status_code}")
    kind = SandboxNotFoundError if answer.status_code == 404 else APIError
    return kind(message, answer.status_code, payload.get("details"))
