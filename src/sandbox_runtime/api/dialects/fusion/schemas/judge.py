"""Bodies of the judge's routes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from sandbox_runtime.api.dialects.fusion.schemas.programs import PROTOCOL_LANGUAGES, RunCodeResponse, Seconds
from sandbox_runtime.api.number_fields import RequestModel

Id = int | str
ExtractedType = Literal["fenced", "incomplete_fenced", "heuristic", "empty"]
MAX_ROWS = 1_000_000
_MAX_INTEGER = 2**53
"""Above this, numbers of JSON lose precision in many clients."""


class TestConfig(RequestModel):
    __test__: ClassVar[bool] = False
    """pytest would collect the class by its name."""

    dataset_type: str | None = Field(None, description="class of the benchmark, for a dataset that is not registered")
    language: str | None = Field(
        None,
        description="language of the answer, if the dataset has none",
        json_schema_extra={"enum": [*PROTOCOL_LANGUAGES, None]},
    )
    locale: str | None = Field(None, description="language of the prompt: en or zh")
    is_fewshot: bool | None = Field(None, description="add examples to the prompt, for base models")
    compile_timeout: Seconds | None = Field(None, description="compile timeout in seconds; null: that of the benchmark")
    run_timeout: Seconds | None = Field(None, description="run timeout in seconds; null: that of the benchmark")
    custom_extract_logic: str | None = Field(
        None, description="Python code that extracts the answer from a completion; it runs in a box"
    )
    provided_data: list[dict[str, Any]] | dict[str, Any] | None = Field(
        None, description="rows to use instead of the dataset: a list for /list_ids and /get_prompts, else one object"
    )
    extra: dict[str, Any] = Field({}, description="options that only this benchmark has")


class DatasetRequest(RequestModel):
    dataset: str = Field(max_length=1000, description="id of the dataset")
    config: TestConfig


class GetPromptsRequest(DatasetRequest):
    offset: int = Field(0, ge=0, le=_MAX_INTEGER, description="number of rows to skip, in the order of their ids")
    limit: int = Field(MAX_ROWS, ge=0, le=_MAX_INTEGER, description="maximum number of rows")


class GetPromptByIdRequest(DatasetRequest):
    id: Id


class SubmitRequest(DatasetRequest):
    id: Id
    completion: str = Field(description="output of the model")


class PromptMessage(BaseModel):
    role: str
    content: str


class Prompt(BaseModel):
    id: Id
    prompt: str | list[PromptMessage]
    labels: dict[str, Any] = {}


class EvalTestCase(BaseModel):
    passed: bool
    exec_info: RunCodeResponse
    test_info: dict[str, Any] | None = None
    reason: str = Field("", description="why the case passed or failed, in one word")
    blame: str | None = Field(None, description="cause of a failure: program, limit, caller or platform; null if passed")


class EvalResult(BaseModel):
    id: Id
    accepted: bool
    extracted_code: str
    full_code: str | None = None
    test_code: str | None = None
    tests: list[EvalTestCase]
    extracted_type: ExtractedType | None = None
    extra: dict[str, Any] | None = Field(
        None, description="reason, blame, tamper, message, guard and evidence, and facts that the benchmark adds"
    )


class GetMetricsRequest(DatasetRequest):
    results: list[dict[str, Any]] = Field(description="results of /submit")


class GetMetricsFunctionRequest(DatasetRequest):
    pass


class GetMetricsFunctionResult(BaseModel):
    function: str | None
