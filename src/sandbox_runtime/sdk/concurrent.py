"""Many calls at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sandbox_runtime.errors import InvalidRequest

Result = TypeVar("Result")


def run_concurrent(
    func: Callable[..., Result],
    args: Sequence[Sequence[Any]] | None = None,
    kwargs: Sequence[Mapping[str, Any]] | None = None,
    concurrency: int = 20,
) -> list[Result]:
    """func once for each of args and kwargs, in threads; the results in the order of the calls. Where both are given they are
    paired. The first error is raised once every call that had begun is over."""
    if args is None and kwargs is None:
        raise InvalidRequest("run_concurrent needs args, kwargs or both: one entry for each call")
    if args is not None and kwargs is not None and len(args) != len(kwargs):
        raise InvalidRequest(f"args has {len(args)} entries and kwargs {len(kwargs)}: they must be as many")
    if concurrency < 1:
        raise InvalidRequest(f"concurrency must be at least 1, not {concurrency}")
    positional: Sequence[Sequence[Any]] = [()] * len(kwargs or ()) if args is None else args
    named: Sequence[Mapping[str, Any]] = [{}] * len(positional) if kwargs is None else kwargs
    with ThreadPoolExecutor(concurrency, "sandbox-sdk") as pool:
        calls = [pool.submit(func, *place, **name) for place, name in zip(positional, named, strict=True)]
        try:
            return [call.result() for call in calls]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
