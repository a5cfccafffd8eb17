"""What runs in the box of a handler: it is told code and event over the line, and tells what came of it.

Contract: standard library only; runs under the guest's interpreter, CPython 3.10 or newer. Given to spawners as text and loaded
there; nothing here is imported by the server.
"""
