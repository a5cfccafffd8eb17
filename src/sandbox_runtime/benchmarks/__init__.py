"""Declarations of datasets: each benchmark is a value of pure functions, and runs nothing itself.

Contract: no I/O and no processes here. One file (or folder) per benchmark; `registry` lists every dataset id with its benchmark
and the table its rows are in, in the order in which they are told.
"""
