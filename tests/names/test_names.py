"""The naming rules of CONTRIBUTING.md, checked on every module."""

from __future__ import annotations

import ast
import re
from collections import defaultdict

from scripts import metrics

SOURCES = metrics.modules(metrics.SOURCE)
BANNED_MODULES = {
    "telling", "asking", "hearing", "settling", "keeping", "ground", "given", "ahead", "many", "joined", "works", "wishes",
    "beyond", "lasting", "answering", "opening", "running", "judging", "sharing", "watching", "homes", "places", "rooms",
    "knobs", "means",
}  # fmt: skip
BANNED_CLASSES = {
    "Ground", "Means", "Ways", "Rooms", "Around", "Workshop", "Furnishing", "Told", "Asked", "Ran", "Work", "Home", "Tape",
    "Spare", "Spot", "Shelf", "Hearing", "Lost", "Found", "Door", "Place", "Tongue", "Knob", "Keeper", "Lingering", "Leaving",
    "Allowance",
}  # fmt: skip
BANNED_FUNCTIONS = {"told", "asked", "said", "named", "given", "kept", "heard", "lost"}
SAME_MEANING = {
    # One per dialect, storage, client or backend: the name is the role.
    "responses", "router", "schemas", "mapping", "params", "requests", "answers", "errors", "routes", "port", "options", "api",
    "registry",
    # One per noun, in the folders that serve, map, store or call it.
    "archives", "audit", "batches", "containers", "contexts", "execution", "executions", "files", "health", "judge", "languages",
    "metrics", "node_reports", "nodes", "notebooks", "packages", "programs", "sandboxes", "sessions", "settings", "storage",
    "templates", "terminals", "tools",
    # A noun of the model, and where it is served, configured, measured or shown.
    "access", "command", "commands", "environment", "events", "fork", "installer", "keys", "limits", "logs", "node",
    "notebook", "output", "planner", "prompts", "result", "retry", "run", "session", "shared_env", "snapshots", "standby",
    "version2",
    # One per published dataset: the benchmark and the importer of its rows.
    "mbpp", "minif2f", "natural_code_bench", "verilog",
    # A general term of the field, used in the same sense.
    "arguments", "codec", "copy", "folders", "functions", "injected_modules", "layers", "lines", "loader", "local", "mounts",
    "namespaces", "pack", "preload", "recent", "remote", "runner", "server", "startup", "syscalls", "threads", "tokens", "warmup",
    # The server's end and the box's end of the same thing.
    "call", "connection", "driver", "kernel", "start", "wire", "watchdog",
}  # fmt: skip


def plain_modules() -> list[metrics.Module]:
    return [module for module in SOURCES if module.path.name != "__init__.py"]


def test_no_module_is_a_gerund() -> None:
    assert not metrics.gerund_modules(plain_modules())


def test_no_module_has_a_banned_name() -> None:
    assert not [module.dotted for module in plain_modules() if module.path.stem in BANNED_MODULES]


def test_no_class_has_a_banned_name() -> None:
    named = [(module.dotted, cls.name) for module in SOURCES for cls in module.classes()]
    assert not [(where, name) for where, name in named if name.lstrip("_") in BANNED_CLASSES]


def test_no_function_is_a_banned_participle() -> None:
    named = [(module.dotted, function.name) for module in SOURCES for function in module.functions()]
    assert not [(where, name) for where, name in named if name.lstrip("_") in BANNED_FUNCTIONS]


def test_bounds_are_called_max() -> None:
    pattern = re.compile(r"_?(most|longest)_", re.IGNORECASE)
    found = {
        f"{module.dotted}: {node.id}"
        for module in SOURCES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name) and pattern.match(node.id)
    }
    assert not sorted(found)


def test_a_file_name_has_one_meaning() -> None:
    folders: dict[str, set[str]] = defaultdict(set)
    for module in plain_modules():
        folders[module.path.stem].add(module.path.parent.relative_to(metrics.SOURCE).as_posix())
    # sdk/aio and sdk/blocking are twins; sdk, cli and api serve the same nouns.
    repeated = {stem: sorted(where - {"sdk/blocking"}) for stem, where in folders.items() if stem not in SAME_MEANING}
    assert not {stem: where for stem, where in repeated.items() if len(where) > 1}
