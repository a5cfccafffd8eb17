"""Map requests to the judge, and its verdicts to response bodies. Pure."""

from __future__ import annotations

import base64

from sandbox_runtime.api.dialects.fusion.mapping.programs import command_body, overall_status
from sandbox_runtime.api.dialects.fusion.schemas.judge import Id, TestConfig
from sandbox_runtime.api.dialects.fusion.schemas.programs import Json
from sandbox_runtime.model.judge import CaseVerdict, Options, Prompt, Verdict


def to_options(dataset: str, config: TestConfig) -> Options:
    return Options(
        dataset=dataset,
        language=config.language,
        locale=config.locale,
        is_fewshot=config.is_fewshot,
        compile_timeout_s=config.compile_timeout,
        run_timeout_s=config.run_timeout,
        extra=config.extra,
    )


def prompt_body(prompt: Prompt) -> Json:
    content = prompt.prompt if isinstance(prompt.prompt, str) else [dict(message) for message in prompt.prompt]
    return {"id": prompt.id, "prompt": content, "labels": dict(prompt.labels)}


def verdict_body(row_id: Id, verdict: Verdict, pod_name: str) -> Json:
    """Return the verdict. `extra` holds what the protocol has no field for, and the facts that the benchmark adds."""
    return {
        "id": row_id,
        "accepted": verdict.accepted,
        "extracted_code": verdict.extracted_code,
        "full_code": verdict.full_code,
        "test_code": verdict.test_code,
        "tests": [_case(case, pod_name) for case in verdict.cases],
        "extracted_type": verdict.extracted_type,
        "extra": {
            "reason": verdict.reason.value,
            "blame": verdict.blame and verdict.blame.value,
            "tamper": list(verdict.tamper),
            "message": verdict.message,
            **verdict.extra,
        },
    }


def _case(case: CaseVerdict, pod_name: str) -> Json:
    return {
        "passed": case.passed,
        "exec_info": _run(case, pod_name),
        "test_info": None if case.info is None else dict(case.info),
        "reason": case.reason.value,
        "blame": case.blame and case.blame.value,
    }


def _run(case: CaseVerdict, pod_name: str) -> Json:
    """Return the run as /run_code would. If nothing was run, the status is that of the verdict."""
    compiled = None if case.compile is None else command_body(case.compile)
    run = None if case.run is None else command_body(case.run)
    commands = [command for command in (compiled, run) if command is not None]
    status, message = overall_status(commands) if commands else ("Success" if case.passed else "Failed", case.message)
    return {
        "status": status,
        "message": message,
        "compile_result": compiled,
        "run_result": run,
        "executor_pod_name": pod_name or None,
        "files": {name: base64.b64encode(content).decode() for name, content in case.files.items()},
        "skipped_files": {},
    }
