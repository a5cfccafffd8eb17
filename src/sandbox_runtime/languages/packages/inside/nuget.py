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

from .registry_client import (
    MAX_BYTES,
    MAX_PACKAGES,
    RegistryError,
    check_plain,
    fetch,
    install_files,
    main,
    print_progress,
    read_requested,
)

FRAMEWORKS = (
    *(f"netcoreapp{item}" for item in ("3.1", "3.0", "2.2", "2.1", "2.0", "1.1", "1.0")),
    *(f"netstandard{item}" for item in ("2.1", "2.0", "1.6", "1.5", "1.4", "1.3", "1.2", "1.1", "1.0")),
)
_NUMBERS = re.compile(r"\d+")
_LIBRARY = re.compile(r"lib/([^/]+)/([A-Za-z0-9_][A-Za-z0-9_.-]*\.dll)", re.IGNORECASE)
_FRAMEWORK_PACKAGE = re.compile(r"netstandard\.library|microsoft\.netcore\..*|runtime\..*", re.IGNORECASE)
Order = tuple[list[int], bool, str]


class Source:
    """url: of the packages themselves, or of the list of a server's parts, which tells that."""

    def __init__(self, url: str) -> None:
        self._url = _package_base_url(url) if url.endswith(".json") else url

    def versions(self, name: str) -> list[str]:
        text = json.loads(fetch(f"{self._url}/{check_plain(name.lower())}/index.json", f"package {name}"))
        rows = text.get("versions") if isinstance(text, dict) else None
        return sorted((str(item) for item in rows or ()), key=version_order)

    def package(self, name: str, version: str) -> zipfile.ZipFile:
        print_progress(f"downloading {name} {version}")
        low, exact = check_plain(name.lower()), check_plain(version.lower())
        raw = fetch(f"{self._url}/{low}/{exact}/{low}.{exact}.nupkg", f"{name} {version}")
        try:
            return zipfile.ZipFile(io.BytesIO(raw))
        except (zipfile.BadZipFile, ValueError) as error:
            raise RegistryError(f"{name} {version} is no package: {error}") from error


def _package_base_url(url: str) -> str:
    parts = json.loads(fetch(url, "list of its parts")).get("resources", [])
    bases = [item["@id"] for item in parts if str(item.get("@type", "")).startswith("PackageBaseAddress")]
    if not bases:
        raise RegistryError(f"{url} names no place where packages are")
    return str(bases[0]).rstrip("/")


def version_order(version: str) -> Order:
    """Releases come after what was before them."""
    number, _, before = version.partition("+")[0].partition("-")
    digits = [int(item) for item in _NUMBERS.findall(number)]
    return digits + [0] * (4 - len(digits)), not before, before


def choose_version(there: list[str], wish: str) -> str:
    """The newest release where nothing is said; else the lowest that will do."""
    if not wish:
        return next((item for item in reversed(there) if version_order(item)[1]), there[-1] if there else "")
    low = version_order(wish.strip("[]() ").split(",")[0].strip() or "0")
    exact = wish.startswith("[") and "," not in wish
    return next((item for item in there if (version_order(item) == low if exact else version_order(item) >= low)), "")


def nearest(frameworks: set[str]) -> str:
    return next((item for item in FRAMEWORKS if item in frameworks), "")


def short(framework: str) -> str:
    """.NETStandard2.0 and .NETStandard,Version=v2.0 are netstandard2.0."""
    return framework.lower().replace(",version=v", "").lstrip(".")


def dependencies(package: zipfile.ZipFile) -> list[tuple[str, str]]:
    described = next((name for name in package.namelist() if name.endswith(".nuspec") and "/" not in name), None)
    if described is None:
        return []
    try:
        root = tree.fromstring(_read_member(package, described))
    except tree.ParseError as error:
        raise RegistryError(f"{described} cannot be read: {error}") from error
    for item in root.iter():
        item.tag = str(item.tag).rpartition("}")[2]
    groups = {short(item.get("targetFramework", "")): item for item in root.findall("metadata/dependencies/group")}
    name = nearest({*groups})
    rows = groups[name] if name else groups.get("", root.find("metadata/dependencies"))
    found = [(item.get("id", ""), item.get("version", "")) for item in (() if rows is None else rows.findall("dependency"))]
    return [(name, version) for name, version in found if not _FRAMEWORK_PACKAGE.fullmatch(name)]


def libraries(package: zipfile.ZipFile, name: str, left_out: set[str]) -> dict[str, bytes]:
    inside = [found for found in map(_LIBRARY.fullmatch, package.namelist()) if found]
    frameworks = {found[1].lower() for found in inside}
    taken = nearest(frameworks)
    if frameworks and not taken:
        raise RegistryError(f"{name} has no build for .NET Core 3.1; it is for {', '.join(sorted(frameworks))}")
    mine = [found for found in inside if found[1].lower() == taken and found[2].lower() not in left_out]
    return {check_plain(found[2]): _read_member(package, found[0]) for found in mine}


def _read_member(package: zipfile.ZipFile, name: str) -> bytes:
    with package.open(name) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise RegistryError(f"{name[:100]} has more than {MAX_BYTES} bytes")
    return content


def resolve_all(source: Source, requirements: dict[str, str]) -> dict[str, tuple[str, zipfile.ZipFile]]:
    """By names in lower case, which is how they are compared."""
    taken: dict[str, tuple[str, zipfile.ZipFile]] = {}
    waiting = list(requirements.items())
    while waiting:
        name, wish = waiting.pop(0)
        version = choose_version(source.versions(name), wish)
        if not version:
            raise RegistryError(f"the registry has no {name} {wish}")
        before = taken.get(name.lower())
        if before is not None and version_order(before[0]) >= version_order(version):
            continue
        if len(taken) >= MAX_PACKAGES:
            raise RegistryError(f"more than {MAX_PACKAGES} packages would be needed")
        package = source.package(name, version)
        taken[name.lower()] = version, package
        waiting += dependencies(package)
    return taken


def install(url: str, folder: str, asked: list[str]) -> None:
    if not url:
        raise RegistryError(
            "no registry is known: name the list of a NuGet server's parts in the sandbox's variable NUGET_SOURCE"
        )
    roots = read_requested(folder)
    for text in asked:
        name, _, version = text.partition("@")
        roots[name] = f"[{version}]" if version else ""
    taken = resolve_all(Source(url), roots)
    left_out = _framework_libraries(os.environ.get("REFERENCES", ""))
    files: dict[str, bytes] = {}
    for name, (_version, package) in taken.items():
        files |= libraries(package, name, left_out)
    install_files(folder, files, ".dll", roots, [f"{name} {version}" for name, (version, _) in taken.items()])


def _framework_libraries(references: str) -> set[str]:
    """Names of the libraries that programs have anyway, from the list that is given to the compiler."""
    try:
        with open(references) as file:
            return {line.strip().rstrip('"').rpartition("/")[2].lower() for line in file}
    except OSError:
        return set()


if __name__ == "__main__":
    main(install)
