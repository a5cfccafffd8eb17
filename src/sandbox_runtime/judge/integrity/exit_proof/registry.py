"""The exit proof of each language. Languages without one are judged by their exit code alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sandbox_runtime.judge.integrity.exit_proof import compiled, managed, runners, scripts
from sandbox_runtime.judge.integrity.exit_proof.proof import ExitProof
from sandbox_runtime.model import Job

EXIT_PROOFS: Mapping[str, Callable[[Job], ExitProof | None]] = MappingProxyType(
    {
        "c": compiled.c,
        "cpp": compiled.cpp,
        "rust": compiled.rust,
        "go": compiled.go,
        "java": managed.java,
        "scala": managed.scala,
        "csharp": managed.csharp,
        "kotlin_script": managed.kotlin_script,
        "nodejs": scripts.javascript,
        "typescript": scripts.javascript,
        "php": scripts.php,
        "perl": scripts.perl,
        "lua": scripts.lua,
        "R": scripts.r,
        "julia": scripts.julia,
        "racket": scripts.racket,
        "bash": scripts.bash,
        "ruby": scripts.ruby,
        "go_test": runners.go_test,
        "D_ut": runners.d,
        "rust_test": runners.rust_test,
        "jest": runners.jest,
        "junit": runners.junit,
        "verilog": runners.verilog,
    }
)


def exit_proof_for(job: Job) -> ExitProof | None:
    """Return the exit proof of the job, or None if only its exit code can be used."""
    make = EXIT_PROOFS.get(job.language)
    return make(job) if make else None
