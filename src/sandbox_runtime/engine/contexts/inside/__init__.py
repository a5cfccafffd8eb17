"""The program in the box of a context: an interpreter that keeps its variables between executions.

Contract: standard library and IPython, which the guest must have; runs under the guest's interpreter, CPython 3.10 or newer. A
spawner receives it as text and loads it once for all contexts; the server imports nothing here.
"""
