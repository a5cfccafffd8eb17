"""A small index of Python packages and a registry of npm packages, served to boxes over an address of this host."""

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


Found = tuple[bytes, str] | None
"""What an address holds, and of which kind it is."""


def tarball(name: str, version: str, source: str) -> bytes:
    """A package as npm takes it."""
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
    """Of Python packages. Yields its URL. wheels: by file name."""

    def find(_url: str, path: str) -> Found:
        name = path.strip("/").rpartition("/")[2]
        if name in wheels:
            return wheels[name], "application/octet-stream"
        links = "".join(f'<a href="/files/{file}">{file}</a>' for file in wheels if file.split("-")[0] == name)
        return (f"<!DOCTYPE html><html><body>{links}</body></html>".encode(), "text/html") if links else None

    with serving(address, find) as url:
        yield f"{url}/simple"


@contextmanager
def registry(address: str, packages: dict[str, dict[str, bytes]]) -> Iterator[str]:
    """Of npm packages. Yields its URL. packages: name → version → tarball."""

    def find(url: str, path: str) -> Found:
        name, _, version = unquote(path).strip("/").partition("/-/")
        if name not in packages:
            return None
        if version:
            return packages[name][version.removesuffix(".tgz")], "application/octet-stream"
        return json.dumps(_document(url, name, packages[name])).encode(), "application/json"

    with serving(address, find) as url:
        yield url


def _document(url: str, name: str, versions: dict[str, bytes]) -> dict[str, Any]:
    def one(version: str, packed: bytes) -> dict[str, Any]:
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
        return {"name": name, "version": version, "dist": {"tarball": f"{url}/{name}/-/{version}.tgz", "integrity": integrity}}

    rows = {version: one(version, packed) for version, packed in versions.items()}
    return {"name": name, "dist-tags": {"latest": max(rows)}, "versions": rows}


@contextmanager
def silent(address: str) -> Iterator[str]:
    """An index that takes requests and does not answer them. Yields its URL."""
    over = threading.Event()

    def find(_url: str, _path: str) -> Found:
        over.wait(120)
        return None

    with serving(address, find) as url:
        try:
            yield f"{url}/simple"
        finally:
            over.set()


@contextmanager
def serving(address: str, find: Callable[[str, str], Found]) -> Iterator[str]:
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


def an_address_for_boxes() -> str:
    """Of this host, at which boxes with a network can be served; skips where there are no such boxes."""
    address = own_address()
    if address is None or os.geteuid() != 0 or shutil.which("nft") is None:
        pytest.skip("boxes with a network need root, nft and an address of this host here")
    return address


def own_address() -> str | None:
    """Of this host, other than the loopback's. Nothing is sent: a datagram socket only looks up the way."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = str(probe.getsockname()[0])
        except OSError:
            return None
    return None if address.startswith("127.") else address
