"""Becomes part of the tests that run in boxes: standard library and numpy, and nothing of this package."""
