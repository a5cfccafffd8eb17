"""Installs the toolchains that the language files name, with the package clients of this machine.

Contract: install(languages, …) returns an InstallReport for each language; a failed language does not stop the others.
Idempotent: a toolchain installed from the same language file is left alone. Every command has a time limit. Reads language files,
writes below the toolchains folder, and calls the system's package manager where permitted. Runs nothing in boxes and does not
decide whether a language works: its check program does.
"""

from sandbox_runtime.toolchains.installer import Installer, InstallReport, ToolchainState
from sandbox_runtime.toolchains.stamps import is_installed

__all__ = ["InstallReport", "Installer", "ToolchainState", "is_installed"]
