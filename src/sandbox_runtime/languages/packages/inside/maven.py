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

from .registry_client import MOST_PACKAGES, Refused, found, keep, main, plain, remembered, tell, wanted

MOST_PARENTS = 20
CHECKSUMS = ("sha512", "sha256", "sha1")
_HOLE = re.compile(r"\$\{([^}]{1,200})\}")
_NUMBERS = re.compile(r"\d+|[A-Za-z]+")
_SCOPES = ("", "compile", "runtime")
_WORSE = ("alpha", "beta", "milestone", "m", "rc", "cr", "snapshot")
Pair = tuple[str, str]


@dataclass(frozen=True)
class Managed:
    version: str
    scope: str
    without: frozenset[Pair]


@dataclass
class Project:
    """What a description says, with its parents' words. managed: what is said of packages wherever they are needed."""

    group: str
    artifact: str
    version: str
    words: dict[str, str] = field(default_factory=dict)
    needs: list[tree.Element] = field(default_factory=list)
    managed: dict[Pair, Managed] = field(default_factory=dict)
    packaging: str = "jar"

    def filled(self, text: str | None) -> str:
        told = (text or "").strip()
        for _ in range(10):
            if "${" not in told:
                break
            told = _HOLE.sub(lambda hole: self.words.get(hole[1], ""), told)[:1000]
        return told


_UNMANAGED = Managed("", "", frozenset())


@dataclass(frozen=True)
class Wish:
    group: str
    artifact: str
    version: str
    without: frozenset[Pair] = frozenset()


class Repository:
    def __init__(self, url: str) -> None:
        self._url = url
        self._projects: dict[tuple[str, str, str], Project] = {}

    def folder(self, group: str, artifact: str) -> str:
        return f"{self._url}/{plain(group).replace('.', '/')}/{plain(artifact)}"

    def file(self, wish: Wish, suffix: str) -> str:
        version = plain(wish.version)
        return f"{self.folder(wish.group, wish.artifact)}/{version}/{wish.artifact}-{version}.{suffix}"

    def jar(self, wish: Wish) -> bytes:
        name = f"{wish.group}:{wish.artifact}:{wish.version}"
        tell(f"downloading {name}")
        content = wanted(self.file(wish, "jar"), name)
        kind, told = self._checksum(wish, name)
        if told != hashlib.new(kind, content).hexdigest():
            raise Refused(f"{name} is not what its checksum says ({kind})")
        return content

    def _checksum(self, wish: Wish, name: str) -> tuple[str, str]:
        """The best that the registry offers. Raises Refused where it offers none."""
        for kind in CHECKSUMS:
            told = (found(self.file(wish, f"jar.{kind}")) or b"").decode(errors="replace").split()
            if told:
                return kind, told[0].lower()
        raise Refused(f"the registry has no checksum of {name} ({', '.join(CHECKSUMS)}): it is not used without one")

    def project(self, wish: Wish, depth: int = 0) -> Project:
        key = (wish.group, wish.artifact, wish.version)
        if key not in self._projects:
            if depth > MOST_PARENTS:
                raise Refused(f"{wish.group}:{wish.artifact} has more than {MOST_PARENTS} parents")
            raw = wanted(self.file(wish, "pom"), ":".join(key))
            self._projects[key] = self._read(wish, _parsed(raw, ":".join(key)), depth)
        return self._projects[key]

    def _read(self, wish: Wish, root: tree.Element, depth: int) -> Project:
        above = root.find("parent")
        parent = self._parent(above, depth) if above is not None else None
        project = Project(wish.group, wish.artifact, wish.version, packaging=_text(root, "packaging") or "jar")
        if parent is not None:
            project.words |= parent.words | {"project.parent.version": parent.version, "project.parent.groupId": parent.group}
            project.needs += parent.needs
            project.managed |= parent.managed
        project.words |= {one.tag: (one.text or "").strip() for one in root.findall("properties/*")}
        about = {"groupId": wish.group, "artifactId": wish.artifact, "version": wish.version}
        project.words |= {f"{before}{name}": value for name, value in about.items() for before in ("project.", "pom.", "")}
        project.needs += root.findall("dependencies/dependency")
        self._manage(project, root.findall("dependencyManagement/dependencies/dependency"), depth)
        return project

    def _parent(self, above: tree.Element, depth: int) -> Project:
        return self.project(Wish(_text(above, "groupId"), _text(above, "artifactId"), _text(above, "version")), depth + 1)

    def _manage(self, project: Project, rows: list[tree.Element], depth: int) -> None:
        lists = []
        for row in rows:
            name = (project.filled(_text(row, "groupId")), project.filled(_text(row, "artifactId")))
            version, scope = project.filled(_text(row, "version")), project.filled(_text(row, "scope"))
            if scope == "import":
                lists.append(Wish(*name, version))
            elif _is_plain(row):
                project.managed[name] = Managed(version, scope, _without(row))
        for one in lists:  # what a project says itself stands above what it imports
            project.managed = self.project(one, depth + 1).managed | project.managed

    def chosen(self, group: str, artifact: str, version: str) -> str:
        """One version, whatever was said: nothing is the newest release, a range the newest in it."""
        if version and version[0] not in "[(":
            return version
        raw = wanted(f"{self.folder(group, artifact)}/maven-metadata.xml", f"{group}:{artifact}")
        root = _parsed(raw, f"the versions of {group}:{artifact}")
        there = [(one.text or "").strip() for one in root.findall("versioning/versions/version")]
        release = _text(root, "versioning/release") or _text(root, "versioning/latest")
        fitting = [one for one in there if _within(one, version)] if version else [release] if release else there
        if not fitting:
            raise Refused(f"the registry has no {group}:{artifact} of {version or 'any version'}")
        return max(fitting, key=_order)


def _parsed(raw: bytes, what: str) -> tree.Element:
    try:
        root = tree.fromstring(raw)
    except tree.ParseError as error:
        raise Refused(f"the registry describes {what} in a way that cannot be read: {error}") from error
    for one in root.iter():
        one.tag = str(one.tag).rpartition("}")[2]
    return root


def _text(row: tree.Element, path: str) -> str:
    return (row.findtext(path) or "").strip()


def _order(version: str) -> list[tuple[int, int, str]]:
    parts = [
        (2, int(one), "") if one.isdigit() else (0 if one.lower() in _WORSE else 1, 0, one) for one in _NUMBERS.findall(version)
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


def _needs(project: Project, wish: Wish) -> Iterator[Wish]:
    for row in project.needs:
        name = project.filled(_text(row, "groupId")), project.filled(_text(row, "artifactId"))
        managed = project.managed.get(name, _UNMANAGED)
        left_out = any((group, artifact) in wish.without for group in (name[0], "*") for artifact in (name[1], "*"))
        scope = project.filled(_text(row, "scope")) or managed.scope
        if left_out or not _is_plain(row) or scope not in _SCOPES or project.filled(_text(row, "optional")) == "true":
            continue
        version = project.filled(_text(row, "version")) or managed.version
        yield Wish(*name, version, wish.without | managed.without | _without(row))


def _is_plain(row: tree.Element) -> bool:
    return _text(row, "type") in ("", "jar") and not _text(row, "classifier")


def _without(row: tree.Element) -> frozenset[Pair]:
    rows = row.findall("exclusions/exclusion")
    return frozenset((_text(one, "groupId") or "*", _text(one, "artifactId") or "*") for one in rows)


def resolved(repository: Repository, wishes: list[Wish]) -> dict[Pair, Wish]:
    chosen: dict[Pair, Wish] = {}
    while wishes:
        following: list[Wish] = []
        for wish in wishes:
            if (wish.group, wish.artifact) in chosen:
                continue
            exact = Wish(wish.group, wish.artifact, repository.chosen(wish.group, wish.artifact, wish.version), wish.without)
            chosen[wish.group, wish.artifact] = exact
            if len(chosen) > MOST_PACKAGES:
                raise Refused(f"more than {MOST_PACKAGES} packages would be needed")
            following += _needs(repository.project(exact), exact)
        wishes = following
    return chosen


def _wish(name: str, version: str) -> Wish:
    group, _, artifact = name.partition(":")
    return Wish(group, artifact, version)


def known_to_maven(folder: str = "/usr/share/maven/lib") -> str:
    """The repository that an installed Maven would ask: it stands in the description from which all others inherit."""
    for path in glob.glob(f"{folder}/*model-builder*.jar"):
        with zipfile.ZipFile(path) as archive:
            root = _parsed(archive.read("org/apache/maven/model/pom-4.0.0.xml"), "its own repository")
        return _text(root, "repositories/repository/url").rstrip("/")
    raise Refused("no repository is known: install Maven on the host, or name one in the sandbox's variable MAVEN_REPOSITORY")


def install(url: str, folder: str, asked: list[str]) -> None:
    url = url or known_to_maven()
    roots = remembered(folder)
    for text in asked:
        group, artifact, *version = text.split(":")
        roots[f"{group}:{artifact}"] = version[0] if version else ""
    repository = Repository(url)
    chosen = resolved(repository, [_wish(name, version) for name, version in roots.items()])
    jars = {pair: wish for pair, wish in chosen.items() if repository.project(wish).packaging not in ("pom",)}
    files = {f"{plain(wish.group)}.{wish.artifact}-{wish.version}.jar": repository.jar(wish) for wish in jars.values()}
    keep(folder, files, ".jar", roots, [f"{wish.group}:{wish.artifact} {wish.version}" for wish in jars.values()])


if __name__ == "__main__":
    main(install)
