"""From a completion to a verdict: extraction, the one judging loop, checkers, integrity, blame.

Contract: a verdict says what the completion did, never what happened to the platform: a fault of ours is tried again and at last
reported as not judged. What decides (expected outputs, tests that compare them) never enters a box where the graded program could
reach it, and where tests must run in its process, what it does to them is seen. Benchmarks are values (model.Benchmark); this
room knows none of them.
"""
