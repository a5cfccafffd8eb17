"""Packages of Maven's repositories and all they need at run time, as files beside each other for a class path.

Nearest wins, as in Maven: a package that is needed in two versions is there in the one that is asked for with fewer steps.
Parents, properties, managed versions and imported lists of them are followed; profiles and plugins are not.
"""

from __future__ import annotations

import glob
import hashlib
import re
import xml.etree.ElementTree as tree
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field

from .registry_client import (
    MAX_PACKAGES,
    RegistryError,
    check_plain,
    fetch,
    fetch_or_none,
    install_files,
    main,
    print_progress,
    read_requested,
)

MAX_PARENTS = 20
CHECKSUMS = ("sha512", "sha256", "sha1")
_PROPERTY = re.compile(r"\$\{([^}]{1,200})\}")
_NUMBERS = re.compile(r"\d+|[A-Za-z]+")
_SCOPES = ("", "compile", "runtime")
_PRERELEASE = ("alpha", "beta", "milestone", "m", "rc", "cr", "snapshot")
Pair = tuple[str, str]


@dataclass(frozen=True)
class ManagedVersion:
    version: str
    scope: str
    without: frozenset[Pair]


@dataclass
class Project:
    """What a description says, with its parents' words. managed: what is said of packages wherever they are needed."""

    group: str
    artifact: str
    version: str
    properties: dict[str, str] = field(default_factory=dict)
    dependencies: list[tree.Element] = field(default_factory=list)
    managed: dict[Pair, ManagedVersion] = field(default_factory=dict)
    packaging: str = "jar"

    def interpolate(self, text: str | None) -> str:
        text = (text or "").strip()
        for _ in range(10):
            if "${" not in text:
                break
            text = _PROPERTY.sub(lambda hole: self.properties.get(hole[1], ""), text)[:1000]
        return text


_UNMANAGED = ManagedVersion("", "", frozenset())


@dataclass(frozen=True)
class Requirement:
    group: str
    artifact: str
    version: str
    without: frozenset[Pair] = frozenset()


class Repository:
    def __init__(self, url: str) -> None:
        self._url = url
        self._projects: dict[tuple[str, str, str], Project] = {}

    def folder(self, group: str, artifact: str) -> str:
        return f"{self._url}/{check_plain(group).replace('.', '/')}/{check_plain(artifact)}"

    def file(self, requirement: Requirement, suffix: str) -> str:
        version = check_plain(requirement.version)
        return f"{self.folder(requirement.group, requirement.artifact)}/{version}/{requirement.artifact}-{version}.{suffix}"

    def jar(self, requirement: Requirement) -> bytes:
        name = f"{requirement.group}:{requirement.artifact}:{requirement.version}"
        print_progress(f"downloading {name}")
        content = fetch(self.file(requirement, "jar"), name)
        kind, text = self._checksum(requirement, name)
        if text != hashlib.new(kind, content).hexdigest():
            raise RegistryError(f"{name} is not what its checksum says ({kind})")
        return content

    def _checksum(self, requirement: Requirement, name: str) -> tuple[str, str]:
        """The best that the registry offers. Raises RegistryError where it offers none."""
        for kind in CHECKSUMS:
            text = (fetch_or_none(self.file(requirement, f"jar.{kind}")) or b"").decode(errors="replace").split()
            if text:
                return kind, text[0].lower()
        raise RegistryError(f"the registry has no checksum of {name} ({', '.join(CHECKSUMS)}): it is not used without one")

    def project(self, requirement: Requirement, depth: int = 0) -> Project:
        key = (requirement.group, requirement.artifact, requirement.version)
        if key not in self._projects:
            if depth > MAX_PARENTS:
                raise RegistryError(f"{requirement.group}:{requirement.artifact} has more than {MAX_PARENTS} parents")
            raw = fetch(self.file(requirement, "pom"), ":".join(key))
            self._projects[key] = self._read(requirement, _parse_xml(raw, ":".join(key)), depth)
        return self._projects[key]

    def _read(self, requirement: Requirement, root: tree.Element, depth: int) -> Project:
        above = root.find("parent")
        parent = self._parent(above, depth) if above is not None else None
        project = Project(
            requirement.group, requirement.artifact, requirement.version, packaging=_text(root, "packaging") or "jar"
        )
        if parent is not None:
            project.properties |= parent.properties | {
                "project.parent.version": parent.version,
                "project.parent.groupId": parent.group,
            }
            project.dependencies += parent.dependencies
            project.managed |= parent.managed
        project.properties |= {item.tag: (item.text or "").strip() for item in root.findall("properties/*")}
        about = {"groupId": requirement.group, "artifactId": requirement.artifact, "version": requirement.version}
        project.properties |= {f"{before}{name}": value for name, value in about.items() for before in ("project.", "pom.", "")}
        project.dependencies += root.findall("dependencies/dependency")
        self._manage(project, root.findall("dependencyManagement/dependencies/dependency"), depth)
        return project

    def _parent(self, above: tree.Element, depth: int) -> Project:
        return self.project(Requirement(_text(above, "groupId"), _text(above, "artifactId"), _text(above, "version")), depth + 1)

    def _manage(self, project: Project, rows: list[tree.Element], depth: int) -> None:
        lists = []
        for row in rows:
            name = (project.interpolate(_text(row, "groupId")), project.interpolate(_text(row, "artifactId")))
            version, scope = project.interpolate(_text(row, "version")), project.interpolate(_text(row, "scope"))
            if scope == "import":
                lists.append(Requirement(*name, version))
            elif _is_plain(row):
                project.managed[name] = ManagedVersion(version, scope, _without(row))
        for item in lists:  # what a project says itself stands above what it imports
            project.managed = self.project(item, depth + 1).managed | project.managed

    def choose_version(self, group: str, artifact: str, version: str) -> str:
        """One version, whatever was said: nothing is the newest release, a range the newest in it."""
        if version and version[0] not in "[(":
            return version
        raw = fetch(f"{self.folder(group, artifact)}/maven-metadata.xml", f"{group}:{artifact}")
        root = _parse_xml(raw, f"the versions of {group}:{artifact}")
        there = [(item.text or "").strip() for item in root.findall("versioning/versions/version")]
        release = _text(root, "versioning/release") or _text(root, "versioning/latest")
        fitting = [item for item in there if _within(item, version)] if version else [release] if release else there
        if not fitting:
            raise RegistryError(f"the registry has no {group}:{artifact} of {version or 'any version'}")
        return max(fitting, key=_order)


def _parse_xml(raw: bytes, what: str) -> tree.Element:
    try:
        root = tree.fromstring(raw)
    except tree.ParseError as error:
        raise RegistryError(f"the registry describes {what} in a way that cannot be read: {error}") from error
    for item in root.iter():
        item.tag = str(item.tag).rpartition("}")[2]
    return root


def _text(row: tree.Element, path: str) -> str:
    return (row.findtext(path) or "").strip()


def _order(version: str) -> list[tuple[int, int, str]]:
    parts = [
        (2, int(item), "") if item.isdigit() else (0 if item.lower() in _PRERELEASE else 1, 0, item)
        for item in _NUMBERS.findall(version)
    ]
    return [*parts, (1, 0, "")]


def _within(version: str, span: str) -> bool:
    low, comma, high = span.strip("[]()").partition(",")
    here, low_at, high_at = _order(version), _order(low.strip()), _order(high.strip())
    if not comma:
        return here == low_at
    above = not low.strip() or here > low_at or (span.startswith("[") and here == low_at)
    below = not high.strip() or here < high_at or (span.endswith("]") and here == high_at)
    return above and below


def _dependencies(project: Project, requirement: Requirement) -> Iterator[Requirement]:
    for row in project.dependencies:
        name = project.interpolate(_text(row, "groupId")), project.interpolate(_text(row, "artifactId"))
        managed = project.managed.get(name, _UNMANAGED)
        left_out = any((group, artifact) in requirement.without for group in (name[0], "*") for artifact in (name[1], "*"))
        scope = project.interpolate(_text(row, "scope")) or managed.scope
        if left_out or not _is_plain(row) or scope not in _SCOPES or project.interpolate(_text(row, "optional")) == "true":
            continue
        version = project.interpolate(_text(row, "version")) or managed.version
        yield Requirement(*name, version, requirement.without | managed.without | _without(row))


def _is_plain(row: tree.Element) -> bool:
    return _text(row, "type") in ("", "jar") and not _text(row, "classifier")


def _without(row: tree.Element) -> frozenset[Pair]:
    rows = row.findall("exclusions/exclusion")
    return frozenset((_text(item, "groupId") or "*", _text(item, "artifactId") or "*") for item in rows)


def resolve_all(repository: Repository, requirements: list[Requirement]) -> dict[Pair, Requirement]:
    chosen: dict[Pair, Requirement] = {}
    while requirements:
        following: list[Requirement] = []
        for requirement in requirements:
            if (requirement.group, requirement.artifact) in chosen:
                continue
            exact = Requirement(
                requirement.group,
                requirement.artifact,
                repository.choose_version(requirement.group, requirement.artifact, requirement.version),
                requirement.without,
            )
            chosen[requirement.group, requirement.artifact] = exact
            if len(chosen) > MAX_PACKAGES:
                raise RegistryError(f"more than {MAX_PACKAGES} packages would be needed")
            following += _dependencies(repository.project(exact), exact)
        requirements = following
    return chosen


def _to_requirement(name: str, version: str) -> Requirement:
    group, _, artifact = name.partition(":")
    return Requirement(group, artifact, version)


def default_repository(folder: str = "/usr/share/maven/lib") -> str:
    """The repository that an installed Maven would ask: it stands in the description from which all others inherit."""
    for path in glob.glob(f"{folder}/*model-builder*.jar"):
        with zipfile.ZipFile(path) as archive:
            root = _parse_xml(archive.read("org/apache/maven/model/pom-4.0.0.xml"), "its own repository")
        return _text(root, "repositories/repository/url").rstrip("/")
    raise RegistryError(
        "no repository is known: install Maven on the host, or name one in the sandbox's variable MAVEN_REPOSITORY"
    )


def install(url: str, folder: str, asked: list[str]) -> None:
    url = url or default_repository()
    roots = read_requested(folder)
    for text in asked:
        group, artifact, *version = text.split(":")
        roots[f"{group}:{artifact}"] = version[0] if version else ""
    repository = Repository(url)
    chosen = resolve_all(repository, [_to_requirement(name, version) for name, version in roots.items()])
    jars = {
        pair: requirement for pair, requirement in chosen.items() if repository.project(requirement).packaging not in ("pom",)
    }
    files = {
        f"{check_plain(requirement.group)}.{requirement.artifact}-{requirement.version}.jar": repository.jar(requirement)
        for requirement in jars.values()
    }
    install_files(
        folder,
        files,
        ".jar",
        roots,
        [f"{requirement.group}:{requirement.artifact} {requirement.version}" for requirement in jars.values()],
    )


if __name__ == "__main__":
    main(install)
