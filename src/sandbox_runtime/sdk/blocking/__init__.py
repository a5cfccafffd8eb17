"""The blocking client of sessions. Made from the package `aio` beside it by scripts/unasync.py: change that one."""
