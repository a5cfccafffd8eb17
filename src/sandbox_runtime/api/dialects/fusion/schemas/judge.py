"""The messages of the judge as they are on the wire."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from sandbox_runtime.api.dialects.fusion.schemas.programs import LANGUAGES, RunCodeResponse, Seconds
from sandbox_runtime.api.number_fields import RequestModel

Id = int | str
ExtractedType = Literal["fenced", "incomplete_fenced", "heuristic", "empty"]
MOST_ROWS = 1_000_000
_MOST = 2**53


class TestConfig(RequestModel):
    __test__: ClassVar[bool] = False
    """No test, whatever pytest makes of the name."""

    dataset_type: str | None = Field(None, description="class of the benchmark, for datasets that are not registered")
    language: str | None = Field(
        None, description="language of the answer, where the dataset does not say", json_schema_extra={"enum": [*LANGUAGES, None]}
    )
    locale: str | None = Field(None, description="language of the prompt: en or zh")
    is_fewshot: bool | None = Field(None, description="ask with examples, for base models")
    compile_timeout: Seconds | None = Field(None, description="compile timeout in seconds; null: the benchmark's own")
    run_timeout: Seconds | None = Field(None, description="run timeout in seconds; null: the benchmark's own")
    custom_extract_logic: str | None = Field(None, description="Python that finds the code in a completion; it runs in a box")
    provided_data: list[dict[str, Any]] | dict[str, Any] | None = Field(
        None, description="the rows themselves: a list where prompts are listed, one object where one is asked for or judged"
    )
    extra: dict[str, Any] = Field({}, description="options of the benchmark's own")


class Question(RequestModel):
    dataset: str = Field(max_length=1000, description="id of the dataset")
    config: TestConfig


class GetPromptsRequest(Question):
    offset: int = Field(0, ge=0, le=_MOST, description="how many rows to pass over, in the order of their ids")
    limit: int = Field(MOST_ROWS, ge=0, le=_MOST, description="how many rows to answer for at most")


class GetPromptByIdRequest(Question):
    id: Id


class SubmitRequest(Question):
    id: Id
    completion: str = Field(description="what the model wrote")


class Message(BaseModel):
    role: str
    content: str


class Prompt(BaseModel):
    id: Id
    prompt: str | list[Message]
    labels: dict[str, Any] = {}


class EvalTestCase(BaseModel):
    passed: bool
    exec_info: RunCodeResponse
    test_info: dict[str, Any] | None = None
    reason: str = Field("", description="why this case passed or failed, in one word")
    blame: str | None = Field(None, description="who is to blame: program, limit, caller, platform; null where it passed")


class EvalResult(BaseModel):
    id: Id
    accepted: bool
    extracted_code: str
    full_code: str | None = None
    test_code: str | None = None
    tests: list[EvalTestCase]
    extracted_type: ExtractedType | None = None
    extra: dict[str, Any] | None = Field(
        None, description="reason, blame, tamper, message, guard and evidence, and the benchmark's own facts"
    )


class GetMetricsRequest(Question):
    results: list[dict[str, Any]] = Field(description="results of /submit")


class GetMetricsFunctionRequest(Question):
    pass


class GetMetricsFunctionResult(BaseModel):
    function: str | None
