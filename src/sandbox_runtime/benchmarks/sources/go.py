"""Go wants one package line and its imports before anything else, and refuses imports that nothing uses.

Several pieces of a program (a head, a solution, tests) are made one file: the first package line stays, the imports of all pieces
are gathered below it, each once, and where a package of the standard library is used and was forgotten it is added on request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

_PACKAGE = re.compile(r"(?m)^[ \t]*package[ \t]+\w+[^\n]*\n?")
_IMPORTS = re.compile(r"(?m)^import[ \t]*\(([^)]*)(?:\)[^\n]*\n?|\Z)|^import[ \t]+([^\n(]+)\n?")
# Directives to the compiler hold for the place they stand in, which is another one here.
_DIRECTIVE = re.compile(r"(?m)^[ \t]*//(?:go:build|[ \t]*\+build)\b[^\n]*\n?")
_SPEC = re.compile(r'^[ \t]*((?:[\w.]+[ \t]+)?)("[^"\n]+"|`[^`\n]+`)', re.MULTILINE)
_ALWAYS_KEPT = ("_", ".")
_VERSION = re.compile(r"v\d+")

_STANDARD_NAMES = """
bufio bytes container/heap container/list crypto/md5 encoding/hex encoding/json errors fmt io math math/big math/rand os reflect
regexp sort strconv strings sync testing time unicode unicode/utf8
"""
_STANDARD: Mapping[str, str] = MappingProxyType({name.rpartition("/")[2]: name for name in _STANDARD_NAMES.split()})


@dataclass(frozen=True, slots=True)
class _Import:
    name: str
    path: str

    @property
    def identifier(self) -> str:
        """How code refers to it."""
        if self.name:
            return self.name
        *_, last = parts = self.path.strip('"`').split("/")
        return parts[-2] if _VERSION.fullmatch(last) and len(parts) > 1 else last


def merge_go_files(pieces: Iterable[str], *, package: str = "", add_standard: bool = False, drop_unused: bool = False) -> str:
    """One file of the pieces. package: the line's name; empty: that of the first piece that has one, else main. drop_unused: an
    import that only a piece which was replaced had needed would stop the compiler."""
    text = _DIRECTIVE.sub("", "\n".join(pieces))
    named = _PACKAGE.search(text)
    head = f"package {package}" if package else (named[0].strip() if named else "package main")
    imports = _imports_of(text)
    body = _IMPORTS.sub("", _PACKAGE.sub("", text))
    if drop_unused:
        imports = [each for each in imports if each.name in _ALWAYS_KEPT or _uses(body, each.identifier)]
    if add_standard:
        imports += _forgotten(body, {each.identifier for each in imports})
    return f"{head}\n\n{_block(imports)}{body}"


def without_imports(code: str) -> str:
    return _IMPORTS.sub("", code)


def _imports_of(text: str) -> list[_Import]:
    found = (match[1] or match[2] for match in _IMPORTS.finditer(text))
    specs = (_Import(name.strip(), path) for piece in found for name, path in _SPEC.findall(piece))
    return list(dict.fromkeys(specs))


def _forgotten(body: str, known: set[str]) -> list[_Import]:
    return [_Import("", f'"{path}"') for name, path in _STANDARD.items() if name not in known and _uses(body, name)]


def _uses(body: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}\.\w", body) is not None


def _block(imports: list[_Import]) -> str:
    if not imports:
        return ""
    lines = "".join(f"\t{each.name} {each.path}\n" if each.name else f"\t{each.path}\n" for each in imports)
    return f"import (\n{lines})\n\n"
