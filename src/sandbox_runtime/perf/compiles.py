"""The section about languages that compile or start slowly: a program for the first time, the same again, and the tools by hand.

For the first time means that no two programs of such a contender are the same; every turn compiles. By hand means the same tools
started one after another in a plain folder, without a box.
"""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.perf.baselines import ENVIRONMENT, Baseline
from sandbox_runtime.perf.bench_environment import BenchEnvironment
from sandbox_runtime.perf.bench_plan import TITLES
from sandbox_runtime.perf.engines import timed
from sandbox_runtime.perf.hello_programs import HELLOS, Hello
from sandbox_runtime.perf.rounds import Contender, interleave
from sandbox_runtime.perf.server_process import Server, serving

_AGAIN = -1
_REPEAT = 5
_CALM_WITHIN_S = 30.0
_PAUSE_S, _CALM_S = 0.005, 0.03


async def compiles(environment: BenchEnvironment) -> None:
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="sandbox-bench-"))
        platform = await stack.enter_async_context(open_platform(environment.settings))
        server = await stack.enter_async_context(serving(environment.settings))
        await environment.wait_until_checked(server)
        stage = _Stage(environment, platform, server, Path(folder))
        contenders = [one for hello in HELLOS for one in await stage.of(hello)]
        environment.progress.begin(TITLES["compiles"], environment.effort.compile_rounds + 1)
        environment.report.add(await interleave(contenders, environment.effort.compile_rounds, 1, environment.progress.step))


class _Stage:
    def __init__(self, environment: BenchEnvironment, platform: Platform, server: Server, folder: Path) -> None:
        self._scene = environment
        self._platform = platform
        self._server = server
        self._folder = folder
        self._numbers: Iterator[int] = itertools.count()

    async def of(self, hello: Hello) -> list[Contender]:
        """None for a language that does not work here. Afterwards what is measured as again has been compiled once."""
        name = hello.language
        try:
            await timed(self._platform, hello.program(_AGAIN))
            by_hand = self._by_hand(hello)
        except Unavailable as error:
            self._scene.report.skipped[name] = str(error)
            return []
        over_http = partial(self._scene.loader.once, self._server.url, hello.program(_AGAIN))
        label = "compiled by hand" if hello.only_compiled else "by hand"
        found = [
            Contender(f"{name}_by_hand", f"{name}: {label}", by_hand.once, self._calm),
            Contender(f"{name}_first", f"{name}: engine, for the first time", partial(self._first, hello), self._calm),
        ]
        if self._platform.catalog.find(name).compile is not None:
            again = partial(timed, self._platform, hello.program(_AGAIN))
            await over_http()
            found.append(Contender(f"{name}_again", f"{name}: engine, the same again", again, self._calm, _REPEAT))
            found.append(Contender(f"{name}_again_http", f"{name}: HTTP, the same again", over_http, self._calm, _REPEAT))
        return found

    def _by_hand(self, hello: Hello) -> _ByHand:
        folder = self._folder / hello.language
        folder.mkdir()
        return _ByHand(hello, folder, self._scene.settings.toolchains_dir, self._numbers)

    async def _first(self, hello: Hello) -> float:
        return await timed(self._platform, hello.program(next(self._numbers)))

    async def _calm(self) -> None:
        async with asyncio.timeout(_CALM_WITHIN_S):
            while self._platform.pool.in_use:
                await asyncio.sleep(_PAUSE_S)
        await self._server.settle()
        await asyncio.sleep(_CALM_S)


class _ByHand:
    def __init__(self, hello: Hello, folder: Path, toolchains: str, numbers: Iterator[int]) -> None:
        self._hello = hello
        self._folder = folder
        self._numbers = numbers
        self._places = {"{folder}": str(folder), "{toolchains}": toolchains}
        env = ENVIRONMENT | {name: self._filled(value) for name, value in hello.env}
        last = len(hello.by_hand) - 1
        self._steps = [
            Baseline(self._argv(argv), "" if hello.only_compiled or number < last else "45\n", env)
            for number, argv in enumerate(hello.by_hand)
        ]

    async def once(self) -> float:
        (self._folder / self._hello.source).write_text(self._hello.program(next(self._numbers)).code)
        return sum(step.once() for step in self._steps)

    def _argv(self, words: tuple[str, ...]) -> tuple[str, ...]:
        argv = tuple(self._filled(word) for word in words)
        program = argv[0] if argv[0].startswith(str(self._folder)) else shutil.which(argv[0], path=ENVIRONMENT["PATH"])
        if program is None:
            raise Unavailable(f"{argv[0]} is not on this machine: sandbox languages install {self._hello.language}")
        return program, *argv[1:]

    def _filled(self, word: str) -> str:
        for place, path in self._places.items():
            word = word.replace(place, path)
        return word
