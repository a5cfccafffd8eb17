"""A language whose compile step is a shell script of the caller's: whatever a hostile compiler might do, it can be told to do."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.model import Job
from sandbox_runtime.settings import Settings

MAKER = """
name = "maker"
title = "Maker"
source = "make.sh"
binary = "out"
version = ["bash", "--version"]
needs = "bash"
[compile]
argv = ["bash", "{source}"]
[run]
argv = ["bash", "{binary}"]
[check]
code = "echo cat > out"
stdin = "x"
stdout = "x"
"""


def settings_in(folder: Path, **changes: object) -> Settings:
    """With a build cache of its own, in a backend that isolates."""
    rows = folder / "languages"
    rows.mkdir(parents=True, exist_ok=True)
    (rows / "maker.toml").write_text(MAKER)
    (folder / "toolchains").mkdir(exist_ok=True)
    own = {"state_dir": str(folder / "state"), "toolchains_dir": str(folder / "toolchains"), "languages_dir": str(rows)}
    plain = Settings(**own, check_languages=False, log_level="error")  # type: ignore[arg-type]
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


@asynccontextmanager
async def platform_in(folder: Path, **changes: object) -> AsyncIterator[Platform]:
    async with open_platform(settings_in(folder, **changes), prewarm=False) as platform:
        yield platform


async def printed(platform: Platform, code: str, stdin: bytes | None = None, language: str = "maker") -> str:
    """What the program printed; also proof that it compiled and ran."""
    result = await platform.engine.run(Job(language, code, stdin))
    assert result.compile is not None and result.compile.ok, result.compile
    assert result.run is not None and result.run.ok, result.run
    return result.run.stdout.text


def entries(folder: Path) -> list[Path]:
    """What the build cache holds."""
    return sorted((folder / "state/builds").iterdir())


CPP = '#include <cstdio>\nint main() { int a, b; std::scanf("%d %d", &a, &b); std::printf("%d", a + b); }'


def steps(platform: Platform, language: str, step: str) -> int:
    lines = platform.metrics.exposition().decode().splitlines()
    wanted = ("sandbox_runs_total{", f'language="{language}"', f'step="{step}"')
    return sum(int(float(line.split()[-1])) for line in lines if all(word in line for word in wanted))
