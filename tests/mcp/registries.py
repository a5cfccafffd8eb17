"""Small registries of several languages, served to boxes over an address of this host. Each is a set of files by path."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from urllib.parse import unquote

from tests.sessions.package_index import serve

HELD_AT_MOST_S = 120.0
Files = dict[str, bytes]


def served(
    address: str, files: Mapping[str, bytes], held: str = "", until: threading.Event | None = None
) -> AbstractContextManager[str]:
    """Yields the address at which the files are. {url} in a text file stands for it. held: the path of a file that is given out
    only when something has happened."""

    def find(url: str, asked: str) -> tuple[bytes, str] | None:
        path = unquote(asked).partition("?")[0].strip("/")
        if until is not None and path == held:
            until.wait(HELD_AT_MOST_S)
        body = files.get(path)
        return None if body is None else (body.replace(b"{url}", url.encode()), "application/octet-stream")

    return serve(address, find)


def zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return packed.getvalue()


def tarred(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def go_module(path: str, version: str, source: str) -> Files:
    """As GOPROXY serves it."""
    top, manifest = f"{path}/@v", f"module {path}\n\ngo 1.20\n".encode()
    about = json.dumps({"Version": version, "Time": "2024-01-01T00:00:00Z"}).encode()
    inside = f"{path}@{version}"
    packed = zipped({f"{inside}/go.mod": manifest, f"{inside}/lib.go": source.encode()})
    rows = {".info": about, ".mod": manifest, ".zip": packed}
    return {f"{top}/{version}{suffix}": content for suffix, content in rows.items()} | {f"{path}/@latest": about}


def crates(name: str, sources: Mapping[str, str]) -> Files:
    """A sparse index and what it names. sources: version → lib.rs."""
    files: Files = {"config.json": b'{"dl": "{url}/crates/{crate}/{version}"}'}
    rows = []
    for version, source in sources.items():
        manifest = f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n\n[features]\nloud = []\n'
        packed = tarred({f"{name}-{version}/Cargo.toml": manifest.encode(), f"{name}-{version}/src/lib.rs": source.encode()})
        files[f"crates/{name}/{version}"] = packed
        row = {"name": name, "vers": version, "deps": [], "features": {"loud": []}, "yanked": False}
        rows.append(json.dumps({**row, "cksum": hashlib.sha256(packed).hexdigest()}))
    return files | {f"{name[:2]}/{name[2:4]}/{name}": "\n".join(rows).encode()}


def maven_artifact(group: str, name: str, version: str, inside: Mapping[str, bytes], more: str = "") -> Files:
    """more: what else its description says."""
    top = f"{group.replace('.', '/')}/{name}"
    pom = f"<project><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>{more}</project>"
    jar = zipped(inside)
    return {
        f"{top}/{version}/{name}-{version}.pom": pom.encode(),
        f"{top}/{version}/{name}-{version}.jar": jar,
        f"{top}/{version}/{name}-{version}.jar.sha1": hashlib.sha1(jar).hexdigest().encode(),
        f"{top}/maven-metadata.xml": f"<metadata><versioning><release>{version}</release></versioning></metadata>".encode(),
    }


def nuget_package(name: str, version: str, inside: Mapping[str, bytes], needs: str = "") -> Files:
    low = name.lower()
    about = f"<package><metadata><id>{name}</id><version>{version}</version>{needs}</metadata></package>"
    return {
        f"{low}/index.json": json.dumps({"versions": [version]}).encode(),
        f"{low}/{version}/{low}.{version}.nupkg": zipped({f"{name}.nuspec": about.encode(), **inside}),
    }
