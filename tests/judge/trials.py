"""A platform and short ways to make trials, for the tests of the judging loop."""

from __future__ import annotations

from pathlib import Path

from sandbox_runtime.model import Case, Check, Job, Limits, Trial
from sandbox_runtime.settings import Settings

WALL_S = 20.0


def settings_in(folder: Path, **changes: object) -> Settings:
    return Settings(state_dir=str(folder / "state"), check_languages=False, log_level="error", **changes)  # type: ignore[arg-type]


def limits(wall_s: float = WALL_S) -> Limits:
    return Limits(wall_s=wall_s, memory_bytes=None)


def job(code: str, language: str = "python", wall_s: float = WALL_S) -> Job:
    return Job(language, code, compile_limits=limits(60), run_limits=limits(wall_s))


def trial(code: str, *cases: tuple[str, str], check: str | Check = "lines", language: str = "python", **more: object) -> Trial:
    """cases: inputs and the outputs that are expected."""
    made = tuple(Case(stdin.encode(), expected) for stdin, expected in cases) or (Case(),)
    how = check if isinstance(check, Check) else Check(check)
    wall_s = more.pop("wall_s", WALL_S)
    assert isinstance(wall_s, int | float)
    return Trial(job=job(code, language, wall_s), cases=made, check=how, **more)  # type: ignore[arg-type]
