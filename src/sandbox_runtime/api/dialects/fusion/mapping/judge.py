"""The judge between the wire and the model, both ways. Pure."""

from __future__ import annotations

import base64

from sandbox_runtime.api.dialects.fusion.mapping.programs import command_of, overall
from sandbox_runtime.api.dialects.fusion.schemas.judge import Id, TestConfig
from sandbox_runtime.api.dialects.fusion.schemas.programs import Json
from sandbox_runtime.model.judge import CaseVerdict, Options, Prompt, Verdict


def options_of(dataset: str, config: TestConfig) -> Options:
    return Options(
        dataset=dataset,
        language=config.language,
        locale=config.locale,
        is_fewshot=config.is_fewshot,
        compile_timeout_s=config.compile_timeout,
        run_timeout_s=config.run_timeout,
        extra=config.extra,
    )


def prompt_of(prompt: Prompt) -> Json:
    asked = prompt.prompt if isinstance(prompt.prompt, str) else [dict(message) for message in prompt.prompt]
    return {"id": prompt.id, "prompt": asked, "labels": dict(prompt.labels)}


def result_of(called: Id, verdict: Verdict, pod_name: str) -> Json:
    """What the protocol has no field for is in `extra`, beside the benchmark's own facts, which keep their names."""
    return {
        "id": called,
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
    """As /run_code would have told it. Where nothing had to be run, the verdict stands for the run."""
    compiled = None if case.compile is None else command_of(case.compile)
    ran = None if case.run is None else command_of(case.run)
    commands = [command for command in (compiled, ran) if command is not None]
    status, message = overall(commands) if commands else ("Success" if case.passed else "Failed", case.message)
    return {
        "status": status,
        "message": message,
        "compile_result": compiled,
        "run_result": ran,
        "executor_pod_name": pod_name or None,
        "files": {name: base64.b64encode(content).decode() for name, content in case.files.items()},
        "skipped_files": {},
    }
