"""Packages of NuGet and all they need, as libraries beside each other for a program of .NET Core 3.1.

A package is taken in the lowest version that everybody who needs it can do with, as NuGet does. Of its builds for several
frameworks the nearest is taken; what the framework itself has is left out.
"""

from __future__ import annotations

import io
import json
import os
import re
import xml.etree.ElementTree as tree
import zipfile

from .registry_client import MOST_BYTES, MOST_PACKAGES, Refused, keep, main, plain, remembered, tell, wanted

FRAMEWORKS = (
    *(f"netcoreapp{one}" for one in ("3.1", "3.0", "2.2", "2.1", "2.0", "1.1", "1.0")),
    *(f"netstandard{one}" for one in ("2.1", "2.0", "1.6", "1.5", "1.4", "1.3", "1.2", "1.1", "1.0")),
)
_NUMBERS = re.compile(r"\d+")
_LIBRARY = re.compile(r"lib/([^/]+)/([A-Za-z0-9_][A-Za-z0-9_.-]*\.dll)", re.IGNORECASE)
_OF_FRAMEWORK = re.compile(r"netstandard\.library|microsoft\.netcore\..*|runtime\..*", re.IGNORECASE)
Order = tuple[list[int], bool, str]


class Source:
    """url: of the packages themselves, or of the list of a server's parts, which tells that."""

    def __init__(self, url: str) -> None:
        self._url = _base_in(url) if url.endswith(".json") else url

    def versions(self, name: str) -> list[str]:
        told = json.loads(wanted(f"{self._url}/{plain(name.lower())}/index.json", f"package {name}"))
        rows = told.get("versions") if isinstance(told, dict) else None
        return sorted((str(one) for one in rows or ()), key=order)

    def package(self, name: str, version: str) -> zipfile.ZipFile:
        tell(f"downloading {name} {version}")
        low, exact = plain(name.lower()), plain(version.lower())
        raw = wanted(f"{self._url}/{low}/{exact}/{low}.{exact}.nupkg", f"{name} {version}")
        try:
            return zipfile.ZipFile(io.BytesIO(raw))
        except (zipfile.BadZipFile, ValueError) as error:
            raise Refused(f"{name} {version} is no package: {error}") from error


def _base_in(url: str) -> str:
    parts = json.loads(wanted(url, "list of its parts")).get("resources", [])
    bases = [one["@id"] for one in parts if str(one.get("@type", "")).startswith("PackageBaseAddress")]
    if not bases:
        raise Refused(f"{url} names no place where packages are")
    return str(bases[0]).rstrip("/")


def order(version: str) -> Order:
    """Releases come after what was before them."""
    number, _, before = version.partition("+")[0].partition("-")
    digits = [int(one) for one in _NUMBERS.findall(number)]
    return digits + [0] * (4 - len(digits)), not before, before


def chosen(there: list[str], wish: str) -> str:
    """The newest release where nothing is said; else the lowest that will do."""
    if not wish:
        return next((one for one in reversed(there) if order(one)[1]), there[-1] if there else "")
    low = order(wish.strip("[]() ").split(",")[0].strip() or "0")
    exact = wish.startswith("[") and "," not in wish
    return next((one for one in there if (order(one) == low if exact else order(one) >= low)), "")


def nearest(frameworks: set[str]) -> str:
    return next((one for one in FRAMEWORKS if one in frameworks), "")


def short(framework: str) -> str:
    """.NETStandard2.0 and .NETStandard,Version=v2.0 are netstandard2.0."""
    return framework.lower().replace(",version=v", "").lstrip(".")


def needs(package: zipfile.ZipFile) -> list[tuple[str, str]]:
    described = next((name for name in package.namelist() if name.endswith(".nuspec") and "/" not in name), None)
    if described is None:
        return []
    try:
        root = tree.fromstring(_unpacked(package, described))
    except tree.ParseError as error:
        raise Refused(f"{described} cannot be read: {error}") from error
    for one in root.iter():
        one.tag = str(one.tag).rpartition("}")[2]
    groups = {short(one.get("targetFramework", "")): one for one in root.findall("metadata/dependencies/group")}
    name = nearest({*groups})
    rows = groups[name] if name else groups.get("", root.find("metadata/dependencies"))
    found = [(one.get("id", ""), one.get("version", "")) for one in (() if rows is None else rows.findall("dependency"))]
    return [(name, version) for name, version in found if not _OF_FRAMEWORK.fullmatch(name)]


def libraries(package: zipfile.ZipFile, name: str, left_out: set[str]) -> dict[str, bytes]:
    inside = [found for found in map(_LIBRARY.fullmatch, package.namelist()) if found]
    frameworks = {found[1].lower() for found in inside}
    taken = nearest(frameworks)
    if frameworks and not taken:
        raise Refused(f"{name} has no build for .NET Core 3.1; it is for {', '.join(sorted(frameworks))}")
    mine = [found for found in inside if found[1].lower() == taken and found[2].lower() not in left_out]
    return {plain(found[2]): _unpacked(package, found[0]) for found in mine}


def _unpacked(package: zipfile.ZipFile, name: str) -> bytes:
    with package.open(name) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Refused(f"{name[:100]} has more than {MOST_BYTES} bytes")
    return content


def resolved(source: Source, wishes: dict[str, str]) -> dict[str, tuple[str, zipfile.ZipFile]]:
    """By names in lower case, which is how they are compared."""
    taken: dict[str, tuple[str, zipfile.ZipFile]] = {}
    waiting = list(wishes.items())
    while waiting:
        name, wish = waiting.pop(0)
        version = chosen(source.versions(name), wish)
        if not version:
            raise Refused(f"the registry has no {name} {wish}")
        before = taken.get(name.lower())
        if before is not None and order(before[0]) >= order(version):
            continue
        if len(taken) >= MOST_PACKAGES:
            raise Refused(f"more than {MOST_PACKAGES} packages would be needed")
        package = source.package(name, version)
        taken[name.lower()] = version, package
        waiting += needs(package)
    return taken


def install(url: str, folder: str, asked: list[str]) -> None:
    if not url:
        raise Refused("no registry is known: name the list of a NuGet server's parts in the sandbox's variable NUGET_SOURCE")
    roots = remembered(folder)
    for text in asked:
        name, _, version = text.partition("@")
        roots[name] = f"[{version}]" if version else ""
    taken = resolved(Source(url), roots)
    left_out = _of_framework(os.environ.get("REFERENCES", ""))
    files: dict[str, bytes] = {}
    for name, (_version, package) in taken.items():
        files |= libraries(package, name, left_out)
    keep(folder, files, ".dll", roots, [f"{name} {version}" for name, (version, _) in taken.items()])


def _of_framework(references: str) -> set[str]:
    """Names of the libraries that programs have anyway, from the list that is given to the compiler."""
    try:
        with open(references) as file:
            return {line.strip().rstrip('"').rpartition("/")[2].lower() for line in file}
    except OSError:
        return set()


if __name__ == "__main__":
    main(install)
