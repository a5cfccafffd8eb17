"""What runs in the box of a program that is graded by tests in Python: two harnesses.

Contract: standard library only; runs under the guest's interpreter, CPython 3.10 or newer. Given to spawners as text and loaded
there, or sent as the program; nothing here is imported by the server.

Theory of operation of two processes, the rule: see tests_process.py. solution_process.py serves it; proxies.py and objects.py are
what the tests see of the solution; codec.py, extra_types.py and failures.py are how values and exceptions cross, in frames of
wire.py; merge.py brings changed arguments back; test_text.py reads the tests' text; warmup.py warms a spawner up.

Theory of operation of one process, for tests that need it (harness.py). One namespace, as by hand: the solution runs, then the
tests. Around them:
- reporter.py says what was seen, at once and for good, over a duplicate of standard output that only it knows. Each message
  carries a token that came with the order; the one that says "passed" is known to nobody else.
- audit_hook.py sees what code asks the interpreter for (audit hooks cannot be removed), and judges by whose code
  asks: the standard library may look at frames, a solution may not while tests run.
- pristine.py remembers builtins and the modules that tests lean on, and finds what was replaced.
- rewriter.py lets the tests compare through comparer.py, which asks twice where an object of the solution's own making says
  that it equals a plain value.
- test_collector.py runs test functions and classes under pytest, from memory.
The program finds none of it: the modules leave sys.modules, no frame of theirs is below the program's, and what tests call lies
in constants of their code, which cannot be read without being seen.
"""
