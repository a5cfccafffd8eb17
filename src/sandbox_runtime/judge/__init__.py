"""From a completion to a verdict: extraction, the judging loop, checkers, integrity, blame.

Contract: a verdict says what the completion did, never what happened to the platform. Platform faults are retried; if they
persist, the verdict is `not_judged`. Expected outputs and the tests that compare them never enter a box where the graded program
can reach them. Where tests must run in the program's process, tampering is detected. Benchmarks are values (model.Benchmark);
this package imports none of them.
"""
