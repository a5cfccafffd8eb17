"""The client: the functions and messages of SandboxFusion's own client, for any server that speaks that protocol.

    from sandbox_runtime.sdk import RunCodeRequest, run_code

    answer = run_code(RunCodeRequest(code="print(1)", language="python"))

Contract: stands on the standard library, httpx, pydantic and the exception tree; needs nothing of the server. Each function has
an `_async` twin that goes the same way. Where the server is: the `endpoint` of a call, else SANDBOX_FUSION_ENDPOINT (for the
judge SANDBOX_FUSION_DATASET_ENDPOINT), else http://localhost:8080; the key, where it wants one, from SANDBOX_API_KEY. A server
that is overloaded or cannot be reached is asked again, as often as max_attempts says; what cannot be mended that way is raised as
one of sandbox_runtime.errors. A program that failed, and an answer with status SandboxError, are answers.
"""

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
from sandbox_runtime.sdk.functions import (
    get_prompt_by_id,
    get_prompt_by_id_async,
    get_prompts,
    get_prompts_async,
    run_code,
    run_code_async,
    run_jupyter,
    run_jupyter_async,
    submit,
    submit_async,
    submit_safe,
    submit_safe_async,
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
from sandbox_runtime.sdk.summary import SummaryMapping, summary_run_code_result

__all__ = [
    "LANGUAGES",
    "MAJOR_LANGUAGES",
    "MINOR_LANGUAGES",
    "CellRunResult",
    "CommandRunResult",
    "CommandRunStatus",
    "EvalResult",
    "EvalTestCase",
    "GeneralStdioTest",
    "GetMetricsFunctionRequest",
    "GetMetricsFunctionResult",
    "GetMetricsRequest",
    "GetPromptByIdRequest",
    "GetPromptsRequest",
    "Message",
    "Prompt",
    "RunCodeRequest",
    "RunCodeResponse",
    "RunJupyterRequest",
    "RunJupyterResponse",
    "RunStatus",
    "SubmitRequest",
    "SummaryMapping",
    "TestConfig",
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
