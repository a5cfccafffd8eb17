"""A small Python package index and npm registry, served to boxes on an address of this host."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import socket
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import pytest


def wheel(name: str, version: str, source: str) -> bytes:
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return packed.getvalue()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


Page = tuple[bytes, str] | None
"""Content and content type of a URL."""


def tarball(name: str, version: str, source: str) -> bytes:
    """Return an npm package."""
    files = {"package.json": json.dumps({"name": name, "version": version, "main": "index.js"}), "index.js": source}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


@contextmanager
def index(address: str, wheels: dict[str, bytes]) -> Iterator[str]:
    """Serve a Python package index and yield its URL. wheels: by file name."""

    def find(_url: str, path: str) -> Page:
        name = path.strip("/").rpartition("/")[2]
        if name in wheels:
            return wheels[name], "application/octet-stream"
        links = "".join(f'<a href="/files/{file}">{file}</a>' for file in wheels if file.split("-")[0] == name)
        return (f"<!DOCTYPE html><html><body>{links}</body></html>".encode(), "text/html") if links else None

    with serve(address, find) as url:
        yield f"{url}/simple"


@contextmanager
def registry(address: str, packages: dict[str, dict[str, bytes]]) -> Iterator[str]:
    """Serve an npm registry and yield its URL. packages: name → version → tarball."""

    def find(url: str, path: str) -> Page:
        name, _, version = unquote(path).strip("/").partition("/-/")
        if name not in packages:
            return None
        if version:
            return packages[name][version.removesuffix(".tgz")], "application/octet-stream"
        return json.dumps(_document(url, name, packages[name])).encode(), "application/json"

    with serve(address, find) as url:
        yield url


def _document(url: str, name: str, versions: dict[str, bytes]) -> dict[str, Any]:
    def one(version: str, packed: bytes) -> dict[str, Any]:
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
        return {"name": name, "version": version, "dist": {"tarball": f"{url}/{name}/-/{version}.tgz", "integrity": integrity}}

    rows = {version: one(version, packed) for version, packed in versions.items()}
    return {"name": name, "dist-tags": {"latest": max(rows)}, "versions": rows}


@contextmanager
def unresponsive_index(address: str) -> Iterator[str]:
    """Serve an index that accepts requests and never answers; yield its URL."""
    over = threading.Event()

    def find(_url: str, _path: str) -> Page:
        over.wait(120)
        return None

    with serve(address, find) as url:
        try:
            yield f"{url}/simple"
        finally:
            over.set()


@contextmanager
def serve(address: str, find: Callable[[str, str], Page]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = find(url, self.path)
            if found is None:
                self.send_error(404)
                return
            body, kind = found
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer((address, 0), Handler)
    url = f"http://{address}:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def address_for_boxes() -> str:
    """Return an address of this host that boxes with a network reach; skip if boxes have none here."""
    address = own_address()
    if address is None or os.geteuid() != 0 or shutil.which("nft") is None:
        pytest.skip("boxes with a network need root, nft and an address of this host here")
    return address


def own_address() -> str | None:
    """Return an address of this host other than loopback. Nothing is sent: connecting a datagram socket only looks up the
    route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if address.startswith("127.") else address
