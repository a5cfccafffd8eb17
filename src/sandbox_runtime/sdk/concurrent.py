"""Concurrent calls in threads."""

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
    """Call func for each entry of args and kwargs, paired if both are given, and return the results in the same order. The first
    error is raised after the running calls have ended."""
    if args is None and kwargs is None:
        raise InvalidRequest("run_concurrent requires args, kwargs or both, with one entry per call")
    if args is not None and kwargs is not None and len(args) != len(kwargs):
        raise InvalidRequest(f"args has {len(args)} entries and kwargs {len(kwargs)}: they must have the same length")
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
