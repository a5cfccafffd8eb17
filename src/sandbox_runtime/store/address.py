"""Where the database is: a URL, read with care for the password in it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from sandbox_runtime.errors import InvalidRequest, Unavailable

SQLITE, MYSQL, POSTGRES = "sqlite", "mysql", "postgresql"
_FAMILIES = {"sqlite": SQLITE, "mysql": MYSQL, "mariadb": MYSQL, "postgresql": POSTGRES, "postgres": POSTGRES}
# Whichever driver a URL names, the one that this package knows is taken: URLs of other deployments work unchanged.
_DRIVERS = {MYSQL: ("mysql+asyncmy", "asyncmy", "mysql"), POSTGRES: ("postgresql+asyncpg", "asyncpg", "postgres")}
URL_FORMS = "sqlite:////folder/file.db, mysql://user:password@host:3306/name or postgresql://user:password@host:5432/name"


@dataclass(frozen=True, slots=True)
class Address:
    family: str
    url: URL

    @property
    def display_url(self) -> str:
        """Fit for logs and messages: without the password, and without what the query may hold."""
        return self.url.set(drivername=self.family, query={}).render_as_string(hide_password=True)

    @property
    def file(self) -> Path:
        return Path(self.url.database or "")


def parse_address(text: str) -> Address:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # The text itself stays out of the message, and the cause with it: it may hold a password.
        raise InvalidRequest(f"this is no URL of a database; write {URL_FORMS}") from None
    family = _FAMILIES.get(url.drivername.partition("+")[0])
    if family is None:
        raise InvalidRequest(f"databases of the kind {url.drivername!r} are not known; write {URL_FORMS}")
    return _file(url) if family == SQLITE else _server(family, url)


def _file(url: URL) -> Address:
    if not url.database or url.database == ":memory:" or url.query or url.host:
        raise InvalidRequest("the embedded database is a file, without options: sqlite:////folder/file.db")
    return Address(SQLITE, url.set(drivername="sqlite+pysqlite", database=str(Path(url.database).absolute())))


def _server(family: str, url: URL) -> Address:
    driver, module, extra = _DRIVERS[family]
    if not url.database:
        raise InvalidRequest(f"the URL of the database names no database; write {URL_FORMS}")
    if find_spec(module) is None:
        raise Unavailable(f"{family} databases need the driver {module}: pip install 'sandbox-runtime[{extra}]'")
    return Address(family, url.set(drivername=driver))
