"""Models of the judge."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from sandbox_runtime.sdk.execution_models import RunCodeResponse, ServerModel

Id = int | str
ExtractedType = Literal["fenced", "incomplete_fenced", "heuristic", "empty"]


class TestConfig(BaseModel):
    __test__: ClassVar[bool] = False
    """Prevents pytest from collecting this class."""

    dataset_type: str | None = None
    language: str | None = None
    locale: str | None = None
    is_fewshot: bool | None = None
    compile_timeout: float | None = None
    run_timeout: float | None = None
    custom_extract_logic: str | None = None
    provided_data: list[dict[str, Any]] | dict[str, Any] | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class GetPromptsRequest(BaseModel):
    dataset: str
    config: TestConfig
    offset: int = 0
    limit: int = 1_000_000


class GetPromptByIdRequest(BaseModel):
    dataset: str
    config: TestConfig
    id: Id


class SubmitRequest(BaseModel):
    dataset: str
    id: Id
    completion: str
    config: TestConfig


class Message(ServerModel):
    role: str
    content: str


class Prompt(ServerModel):
    id: Id
    prompt: str | list[Message]
    labels: dict[str, Any] = Field(default_factory=dict)


class GeneralStdioTest(BaseModel):
    input: dict[str, str]
    output: dict[str, str]


class EvalTestCase(ServerModel):
    passed: bool
    exec_info: RunCodeResponse
    test_info: dict[str, Any] | None = None


class EvalResult(ServerModel):
    id: Id
    accepted: bool
    extracted_code: str
    full_code: str | None = None
    test_code: str | None = None
    tests: list[EvalTestCase]
    extracted_type: ExtractedType | None = None
    extra: dict[str, Any] | None = None


class GetMetricsRequest(BaseModel):
    dataset: str
    config: TestConfig
    results: list[EvalResult]


class GetMetricsFunctionRequest(BaseModel):
    dataset: str
    config: TestConfig


class GetMetricsFunctionResult(ServerModel):
    function: str | None
