"""Interpreters that keep their state between executions, and copies of them."""
