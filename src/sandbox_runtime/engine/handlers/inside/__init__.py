"""The program in the box of a handler: receives code and event over the control socket and sends the result back.

Contract: standard library only; runs under the guest's interpreter, CPython 3.10 or newer. Spawners receive it as text and load
it; the server imports nothing here.
"""
