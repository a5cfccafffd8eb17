"""Go wants one package line and all imports on top, and refuses imports that nothing uses: pieces of a file that are put together
need that mended."""

from __future__ import annotations

import re

_PACKAGE = re.compile(r"^[ \t]*package[ \t]+(\w+)[^\n]*\n?", re.MULTILINE)
_GROUP = re.compile(r"^[ \t]*import[ \t]*\(([^)]*)\)[^\n]*\n?", re.MULTILINE)
_SINGLE = re.compile(r"^[ \t]*import[ \t]+((?:[\w.]+[ \t]+)?\"[^\"\n]+\")[^\n]*\n?", re.MULTILINE)
_IMPORT = re.compile(r"(?:([\w.]+)[ \t]+)?\"([^\"\n]+)\"")
_VERSION = re.compile(r"v\d+")


def one_file(code: str) -> str:
    """The same code as one file: the first package named, the imports that are used, and the rest."""
    package = _PACKAGE.search(code)
    imports = _imports(code)
    body = _SINGLE.sub("", _GROUP.sub("", _PACKAGE.sub("", code)))
    used = [line for line, name in imports.items() if name in ("_", ".") or re.search(rf"\b{re.escape(name)}\.", body)]
    lines = "".join(f"\t{line}\n" for line in used)
    return f"package {package[1] if package else 'main'}\n\nimport (\n{lines})\n{body}"


def _imports(code: str) -> dict[str, str]:
    """Each import as it is written, with the name the code knows it by."""
    listed = " \n".join([*(found[1] for found in _GROUP.finditer(code)), *(found[1] for found in _SINGLE.finditer(code))])
    return {found[0].strip(): found[1] or _last(found[2]) for found in _IMPORT.finditer(listed)}


def _last(path: str) -> str:
    """The last part of an import's path, without a version."""
    parts = [part for part in path.split("/") if not _VERSION.fullmatch(part)]
    return (parts or [path])[-1].removeprefix("go-").partition(".")[0]
