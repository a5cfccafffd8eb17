"""Texts of metrics functions: Python that a client executes, so that it counts exactly as the dataset means it.

The text defines get_metrics(results); results have id, accepted and tests, and two names are there before: repeats (how many
samples each problem has) and k_targets (a list of k).
"""

from __future__ import annotations

_PASS_AT_K = '''\
from math import comb


def category_of(result):
    {category}


def pass_at_k(samples, right, k):
    """The chance that at least one of k samples drawn from all of them is right."""
    return 1.0 - comb(samples - right, k) / comb(samples, k)


def get_metrics(results):
    problems = {{}}
    for result in results:
        problems.setdefault(category_of(result), {{}}).setdefault(result.id, []).append(bool(result.accepted))
    metrics = {{}}
    for category, answers in problems.items():
        for k in k_targets:
            if k > repeats:
                continue
            scores = [pass_at_k(max(repeats, len(each)), sum(each), k) for each in answers.values()]
            metrics[f"{{category}}/Pass@k={{k}}"] = sum(scores) / len(scores)
    return metrics
'''


def pass_at_k_by(category: str) -> str:
    """category: the body of a function of `result`, in one line, that returns its category."""
    return _PASS_AT_K.format(category=category)
