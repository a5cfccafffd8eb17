"""The life of a session: created, placed, paused, forked, saved, recovered and ended."""
