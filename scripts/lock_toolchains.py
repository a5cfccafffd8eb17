"""Write the lock files of language rows anew: what their package clients may fetch, by hash.

    python scripts/lock_toolchains.py UV [row…]

Beside the other files of each row: requirements.lock for pip, package.json and package-lock.json for npm, maven.lock for Maven. A
row names exact versions; what these depend on is resolved to the newest that fits. No address of a registry is written.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sandbox_runtime.languages import Language, assets_folder, load_catalog
from sandbox_runtime.toolchains import clients

HEADER = "# This file is written by: make lock\n"
NPM = ("--package-lock-only", "--ignore-scripts", "--save-exact", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved")
WITHIN_S = 900


def main(words: list[str]) -> int:
    uv, *names = words
    for language in load_catalog():
        if names and language.name not in names:
            continue
        assets = Path(assets_folder(language))
        if language.install.pip:
            _pip(uv, language.install.pip, assets / clients.PIP_LOCK)
        if language.install.npm:
            _npm(_versions(language.install.npm), assets)
        if language.install.maven:
            _maven(language, assets / clients.MAVEN_LOCK)
    if not names:
        _pip(uv, ("psycopg2-binary==2.9.3",), Path(assets_folder(load_catalog().find("csharp")), "openssl.lock"))
        _npm_folder(Path("scripts/mcp"))
    return 0


def _pip(uv: str, packages: tuple[str, ...], target: Path) -> None:
    """With the hash of every file of the version: which of them fits is the machine's business."""
    words = ("pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes", "--no-header")
    done = _run([uv, *words, "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "-"], "\n".join(packages))
    _write(target, HEADER + done)


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    pairs = (package.rpartition("@") for package in packages)
    return {name: version for name, _, version in sorted(pairs)}


def _npm(dependencies: dict[str, str], assets: Path) -> None:
    assets.mkdir(parents=True, exist_ok=True)
    described = {"name": "toolchain", "private": True, "dependencies": dependencies}
    (assets / "package.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    _npm_folder(assets)


def _npm_folder(folder: Path) -> None:
    """Resolve the package.json of a folder, without installing anything there."""
    with tempfile.TemporaryDirectory() as work:
        shutil.copyfile(folder / "package.json", Path(work, "package.json"))
        _run(["npm", "install", *NPM, "--prefix", work], cwd=work)
        lock = json.loads(Path(work, "package-lock.json").read_text(encoding="utf-8"))
    for package in lock["packages"].values():
        package.pop("funding", None)
        package.pop("deprecated", None)
    missing = [name for name, package in lock["packages"].items() if name and "integrity" not in package]
    if missing:
        sys.exit(f"lock: the registry gives no integrity for {', '.join(missing)}")
    _write(folder / "package-lock.json", json.dumps(lock, indent=1, ensure_ascii=False) + "\n")


def _maven(language: Language, target: Path) -> None:
    with tempfile.TemporaryDirectory() as work:
        _run(list(clients.maven_command(language.name, language.install.maven, Path(work), Path(work, "jars"))), cwd=work)
        jars = sorted(Path(work, "jars").glob("*.jar"))
        lines = [f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.name}\n" for jar in jars]
    _write(target, HEADER + "".join(lines))


def _run(argv: list[str], given: str = "", cwd: str | None = None) -> str:
    done = subprocess.run(argv, input=given, text=True, stdout=subprocess.PIPE, cwd=cwd, timeout=WITHIN_S)
    if done.returncode:
        sys.exit(f"lock: {' '.join(argv[:3])} failed with {done.returncode} (see above)")
    return done.stdout


def _write(path: Path, text: str) -> None:
    if "://" in text:
        sys.exit(f"lock: an address got into {path}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"lock: {path}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
