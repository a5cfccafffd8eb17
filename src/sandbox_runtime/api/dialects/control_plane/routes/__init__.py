"""Thin routes: map the request, call one method of sessions, map the result."""
