"""Runs in boxes: standard library and sympy, and nothing of this package."""
