"""The Python client: sessions, and the functions and models of SandboxFusion's client.

    from sandbox_runtime.sdk import RunCodeRequest, Sandbox, SandboxClient, run_code

    answer = run_code(RunCodeRequest(code="print(1)", language="python"))

    async with Sandbox() as box:
        print((await box.run("print(6 * 7)")).stdout)

It depends on the standard library, httpx, pydantic and sandbox_runtime.errors, not on the server. A request to a server that is
overloaded or unreachable is retried, up to max_attempts in total; other failures raise one of sandbox_runtime.errors. A failed
program, and a response with status SandboxError, are results.

Sessions: SandboxClient has every call, Sandbox is one session that ends with its block. SyncSandboxClient and SyncSandbox are the
same without an event loop, generated from them. Server: base_url, else SANDBOX_URL, else http://localhost:8080. API key: api_key,
else SANDBOX_API_KEY.

Functions: each has an `_async` version. Server: the `endpoint` of a call, else SANDBOX_FUSION_ENDPOINT (for the judge
SANDBOX_FUSION_DATASET_ENDPOINT), else http://localhost:8080.
"""

from sandbox_runtime.sdk.aio.client import SandboxClient
from sandbox_runtime.sdk.aio.functions import (
    get_prompt_by_id_async,
    get_prompts_async,
    run_code_async,
    run_jupyter_async,
    submit_async,
    submit_safe_async,
)
from sandbox_runtime.sdk.aio.sandbox import Context, Sandbox
from sandbox_runtime.sdk.batch_models import BatchScore, BatchStatus, BatchSummary
from sandbox_runtime.sdk.blocking.client import SyncSandboxClient
from sandbox_runtime.sdk.blocking.functions import (
    get_prompt_by_id,
    get_prompts,
    run_code,
    run_jupyter,
    submit,
    submit_safe,
)
from sandbox_runtime.sdk.blocking.sandbox import SyncContext, SyncSandbox
from sandbox_runtime.sdk.concurrent import run_concurrent
from sandbox_runtime.sdk.endpoints import set_dataset_endpoint, set_endpoint, set_sandbox_endpoint
from sandbox_runtime.sdk.execution_models import (
    LANGUAGES,
    MAJOR_LANGUAGES,
    MINOR_LANGUAGES,
    CellRunResult,
    CommandRunResult,
    CommandRunStatus,
    RunCodeRequest,
    RunCodeResponse,
    RunJupyterRequest,
    RunJupyterResponse,
    RunStatus,
)
from sandbox_runtime.sdk.judge_models import (
    EvalResult,
    EvalTestCase,
    GeneralStdioTest,
    GetMetricsFunctionRequest,
    GetMetricsFunctionResult,
    GetMetricsRequest,
    GetPromptByIdRequest,
    GetPromptsRequest,
    Message,
    Prompt,
    SubmitRequest,
    TestConfig,
)
from sandbox_runtime.sdk.session_config import SessionConfig, WorkspaceConfig
from sandbox_runtime.sdk.session_models import (
    Artifact,
    ContextInfo,
    Dependency,
    ExecutionPage,
    ExecutionResult,
    FileChange,
    FileInfo,
    InstalledDependency,
    Metrics,
    Output,
    ResourceLimit,
    SessionInfo,
    SessionPage,
    TemplateInfo,
    UploadedFile,
)
from sandbox_runtime.sdk.summary import SummaryMapping, summary_run_code_result

__all__ = [
    "LANGUAGES",
    "MAJOR_LANGUAGES",
    "MINOR_LANGUAGES",
    "Artifact",
    "BatchScore",
    "BatchStatus",
    "BatchSummary",
    "CellRunResult",
    "CommandRunResult",
    "CommandRunStatus",
    "Context",
    "ContextInfo",
    "Dependency",
    "EvalResult",
    "EvalTestCase",
    "ExecutionPage",
    "ExecutionResult",
    "FileChange",
    "FileInfo",
    "GeneralStdioTest",
    "GetMetricsFunctionRequest",
    "GetMetricsFunctionResult",
    "GetMetricsRequest",
    "GetPromptByIdRequest",
    "GetPromptsRequest",
    "InstalledDependency",
    "Message",
    "Metrics",
    "Output",
    "Prompt",
    "ResourceLimit",
    "RunCodeRequest",
    "RunCodeResponse",
    "RunJupyterRequest",
    "RunJupyterResponse",
    "RunStatus",
    "Sandbox",
    "SandboxClient",
    "SessionConfig",
    "SessionInfo",
    "SessionPage",
    "SubmitRequest",
    "SummaryMapping",
    "SyncContext",
    "SyncSandbox",
    "SyncSandboxClient",
    "TemplateInfo",
    "TestConfig",
    "UploadedFile",
    "WorkspaceConfig",
    "get_prompt_by_id",
    "get_prompt_by_id_async",
    "get_prompts",
    "get_prompts_async",
    "run_code",
    "run_code_async",
    "run_concurrent",
    "run_jupyter",
    "run_jupyter_async",
    "set_dataset_endpoint",
    "set_endpoint",
    "set_sandbox_endpoint",
    "submit",
    "submit_async",
    "submit_safe",
    "submit_safe_async",
    "summary_run_code_result",
]
