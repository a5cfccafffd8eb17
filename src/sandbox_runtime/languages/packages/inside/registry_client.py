"""What a registry answers, and where what was fetched is kept."""

from __future__ import annotations

import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable

MAX_BYTES = 512 * 1024 * 1024
MAX_PACKAGES = 500
_WITHIN_S = 60.0
_PIECE = 1024 * 1024
_ATTEMPTS = 3
_PAUSE_S = 0.5
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")


class RegistryError(Exception):
    """Told to whoever asked for the packages."""


def check_plain(name: str) -> str:
    """A name that may become part of an address or of a file's name."""
    if not _PLAIN.fullmatch(name) or ".." in name:
        raise RegistryError(f"the registry names something {name[:60]!r}, which is no name")
    return name


def fetch_or_none(address: str) -> bytes | None:
    """None where there is no such thing."""
    for attempt in range(_ATTEMPTS):
        try:
            return _read(address)
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):
                return None
            if error.code < 500 or attempt == _ATTEMPTS - 1:
                raise RegistryError(f"{address}: the registry answered {error.code}") from error
        except (OSError, ValueError) as error:
            if attempt == _ATTEMPTS - 1:
                raise RegistryError(f"{address}: {error}") from error
        time.sleep(_PAUSE_S)
    return None


def _read(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"User-Agent": "sandbox-runtime"})
    content = bytearray()
    with urllib.request.urlopen(request, timeout=_WITHIN_S) as answer:
        while piece := answer.read(_PIECE):
            content += piece
            if len(content) > MAX_BYTES:
                raise RegistryError(f"{address} has more than {MAX_BYTES} bytes")
    return bytes(content)


def fetch(address: str, what: str) -> bytes:
    content = fetch_or_none(address)
    if content is None:
        raise RegistryError(f"the registry has no {what}")
    return content


def print_progress(line: str) -> None:
    print(line, flush=True)


def read_requested(folder: str) -> dict[str, str]:
    """What was asked for up to now: name → version, empty for any."""
    try:
        with open(f"{folder}/asked.json") as file:
            text = json.load(file)
    except (OSError, ValueError):
        return {}
    return {str(name): str(version) for name, version in text.items()} if isinstance(text, dict) else {}


def install_files(folder: str, files: dict[str, bytes], suffix: str, asked: dict[str, str], listing: list[str]) -> None:
    """All of it or, where something fails, nothing: names change only when every file is there."""
    for name, content in files.items():
        with open(f"{folder}/{name}.part", "wb") as file:
            file.write(content)
    gone = [name for name in os.listdir(folder) if name.endswith(suffix) and name not in files]
    for name in files:
        os.replace(f"{folder}/{name}.part", f"{folder}/{name}")
    for name in gone:
        os.remove(f"{folder}/{name}")
    with open(f"{folder}/asked.json", "w") as file:
        json.dump(asked, file)
    with open(f"{folder}/listing", "w") as file:
        file.writelines(f"{line}\n" for line in sorted(listing))


def main(install: Callable[[str, str, list[str]], None]) -> None:
    """install: takes the registry, the folder, and what is asked for."""
    registry, folder, *asked = sys.argv[1:]
    try:
        install(registry.rstrip("/"), folder, asked)
    except RegistryError as refusal:
        sys.exit(str(refusal))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # What registries send has any shape: what does not fit is their fault, and no matter for a traceback.
        sys.exit(f"the registry's answer cannot be understood: {type(error).__name__}: {str(error)[:200]}")
