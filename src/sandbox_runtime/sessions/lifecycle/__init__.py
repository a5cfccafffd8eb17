"""Lifecycle of sessions: created, placed, paused, forked, saved, recovered and ended."""
