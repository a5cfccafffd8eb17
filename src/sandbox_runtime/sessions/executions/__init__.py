"""Executions: accepted, queued, run, and written to the store."""
