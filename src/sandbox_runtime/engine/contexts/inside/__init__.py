"""What runs in the box of a context: the interpreter that keeps its variables from one execution to the next.

Contract: standard library and IPython, which the guest must have; runs under the guest's interpreter, CPython 3.10 or newer.
Given to a spawner as text and loaded there, so that every context has it; nothing here is imported by the server.
"""
