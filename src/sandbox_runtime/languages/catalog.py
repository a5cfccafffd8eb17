"""All languages of this deployment, found by name, alias or file extension."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath

from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.languages.language import Language


class Catalog:
    def __init__(self, languages: Mapping[str, Language]) -> None:
        self._languages = dict(languages)
        self._names = _index(self._languages, lambda language: (language.name, *language.aliases), "name or alias")
        self._extensions = _index(self._languages, lambda language: language.extensions, "extension")

    def __iter__(self) -> Iterator[Language]:
        return iter(self._languages.values())

    def find(self, name: str) -> Language:
        """By name or alias."""
        try:
            return self._names[name]
        except KeyError:
            raise NotFound(f"language {name!r} is not in the catalog; there are {', '.join(sorted(self._languages))}") from None

    def with_dependencies(self, languages: Iterable[Language]) -> list[Language]:
        """Each once, and after the languages whose toolchains its own stands on."""
        found: dict[str, Language] = {}
        for language in languages:
            self._add_after_dependencies(language, found, ())
        return list(found.values())

    def _add_after_dependencies(self, language: Language, found: dict[str, Language], above: tuple[str, ...]) -> None:
        if language.name in above:
            raise InvalidRequest(f"language file {language.origin}: install.on goes round in a circle: {', '.join(above)}")
        for name in language.install.on:
            self._add_after_dependencies(self.find(name), found, (*above, language.name))
        found.setdefault(language.name, language)

    def find_by_extension(self, path: str) -> Language:
        """By the extension of a file name."""
        extension = PurePath(path).suffix.removeprefix(".")
        try:
            return self._extensions[extension]
        except KeyError:
            known = ", ".join(f".{known}" for known in sorted(self._extensions))
            raise NotFound(f"no language goes with the name {path!r}; known extensions are {known}") from None


def load_catalog(folder: str = "") -> Catalog:
    """The built-in languages, and those of the operator's folder on top."""
    languages = {language.name: language for language in _read_built_in()}
    if folder:
        languages |= {language.name: language for language in _read_folder(Path(folder))}
    return Catalog(languages)


def assets_folder(language: Language) -> str:
    """Where the files lie that belong to a row; there need be none."""
    beside = Path(language.origin).parent if "/" in language.origin else Path(str(_catalog_folder()))
    return str(beside / "assets" / language.name)


def _catalog_folder() -> Traversable:
    return resources.files(__package__).joinpath("catalog")


def _read_built_in() -> Iterator[Language]:
    rows = _catalog_folder()
    for entry in sorted(rows.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".toml"):
            yield _read_language(entry.read_text(encoding="utf-8"), entry.name, rows)


def _read_folder(folder: Path) -> Iterator[Language]:
    if not folder.is_dir():
        raise InvalidRequest(f"languages_dir {folder} is not a folder")
    for path in sorted(folder.glob("*.toml")):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"language file {path} cannot be read: {error}") from error
        yield _read_language(text, str(path), folder)


def _read_language(text: str, origin: str, folder: Traversable | Path) -> Language:
    """Read a language file. Its assets lie in assets/<language>/ of the same folder."""
    # Imported late, because it imports pydantic: `sandbox --help` reads no languages.
    from sandbox_runtime.languages.reader import read_language

    return read_language(text, origin, lambda language, name: folder.joinpath("assets", language, name).read_bytes())


def _index(languages: Mapping[str, Language], keys: Callable[[Language], tuple[str, ...]], what: str) -> dict[str, Language]:
    index: dict[str, Language] = {}
    for language in languages.values():
        for key in keys(language):
            if key in index:
                raise InvalidRequest(f"language file {language.origin}: {what} {key!r} already belongs to {index[key].name}")
            index[key] = language
    return index
