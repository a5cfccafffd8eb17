"""Installs the toolchains that language rows name, with the package clients of this machine.

Contract: install(languages, …) never raises for one language what it can report of it: each gets a Report, and one that fails
stops no other. Idempotent: what stands and was made from the same row is left alone. Every command it starts has a bound. Reads
rows, writes below the folder of toolchains, and asks the system's package manager where it may; runs nothing in boxes and knows
nothing of whether a language works: that is for its check to say.
"""

from sandbox_runtime.toolchains.installer import Installer, Report, State
from sandbox_runtime.toolchains.stamps import stands

__all__ = ["Installer", "Report", "State", "stands"]
