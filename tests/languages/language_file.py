"""A small language file that is right, for tests that change one thing in it."""

from __future__ import annotations

GOOD = """
name = "awk"
title = "AWK"
aliases = ["gawk"]
extensions = ["awk"]
source = "main.awk"
version = ["awk", "--version"]
needs = "awk"

[run]
argv = ["awk", "-f", "{source}"]
env = { LC_ALL = "C", HERE = "{workdir}" }
at_least = { processes = 32 }

[check]
code = "{ print }"
stdin = "x"
stdout = "x"
"""
