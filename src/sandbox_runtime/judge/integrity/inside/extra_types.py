"""Types beyond numbers, texts and lists: how each is written and rebuilt. The sender's class decides by its full name; what is
rebuilt is always the type of the standard library, numpy or pandas that this side imports itself."""

from __future__ import annotations

import importlib
import itertools
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

Encode = Callable[[Any, Any], Any]
Decode = Callable[[Any, Any], Any]

_MAX_ITEMS = 1_000_000
_ARRAY_KINDS = "biufcSUmM"


def _b64(value: Any) -> str:
    return b64encode(bytes(value)).decode()


def _of(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def _matrix(value: Any, to: Any) -> Any:
    if value.dtype.kind not in _ARRAY_KINDS:
        return {"no": [list(value.shape), to.items(value.reshape(-1).tolist())]}
    return {"np": [value.dtype.str, list(value.shape), _b64(value.tobytes())]}


def _moment(value: Any, to: Any) -> Any:
    return {"dt": [value.isoformat(), value.fold]}


def _match(value: Any, to: Any) -> Any:
    if not isinstance(value.string, str):
        raise TypeError("a match in bytes cannot be sent")
    return {"re": [value.re.pattern, value.re.flags, value.string, value.pos, value.endpos, list(value.span())]}


def _frame(value: Any, to: Any) -> Any:
    columns = [to.encode(value.iloc[:, place]) for place in range(value.shape[1])]
    return {"pf": [to.encode(value.columns), to.encode(value.index), columns]}


def _index(value: Any, to: Any) -> Any:
    names = to.encode(list(value.names))
    return {"pi": [to.encode(list(value)), names, str(value.dtype), type(value).__name__ == "MultiIndex"]}


_ENCODERS: dict[str, Encode] = {
    "builtins.bytes": lambda value, to: {"b": _b64(value)},
    "builtins.bytearray": lambda value, to: {"B": _b64(value)},
    "builtins.memoryview": lambda value, to: {"b": _b64(value)},
    "builtins.set": lambda value, to: {"s": to.items(value)},
    "builtins.frozenset": lambda value, to: {"f": to.items(value)},
    "builtins.complex": lambda value, to: {"c": [value.real, value.imag]},
    "builtins.range": lambda value, to: {"r": [to.encode(one) for one in (value.start, value.stop, value.step)]},
    "builtins.slice": lambda value, to: {"sl": to.items([value.start, value.stop, value.step])},
    "builtins.ellipsis": lambda value, to: {"k": "Ellipsis"},
    "builtins.NotImplementedType": lambda value, to: {"k": "NotImplemented"},
    "builtins.dict_keys": lambda value, to: {"dk": to.items(list(value))},
    "builtins.dict_values": lambda value, to: {"dv": to.items(list(value))},
    "builtins.dict_items": lambda value, to: {"di": to.items(list(value))},
    "decimal.Decimal": lambda value, to: {"D": str(value)},
    "fractions.Fraction": lambda value, to: {"F": to.items([value.numerator, value.denominator])},
    "datetime.datetime": _moment,
    "datetime.date": lambda value, to: {"da": value.isoformat()},
    "datetime.time": lambda value, to: {"ti": value.isoformat()},
    "datetime.timedelta": lambda value, to: {"td": [value.days, value.seconds, value.microseconds]},
    "collections.deque": lambda value, to: {"q": [to.items(value), value.maxlen]},
    "collections.OrderedDict": lambda value, to: {"O": to.pairs(value)},
    "collections.Counter": lambda value, to: {"C": to.pairs(value)},
    "collections.defaultdict": lambda value, to: {"z": [to.pairs(value), getattr(value.default_factory, "__name__", None)]},
    "array.array": lambda value, to: {"A": [value.typecode, to.items(value.tolist())]},
    "uuid.UUID": lambda value, to: {"u": value.hex},
    "pathlib.PosixPath": lambda value, to: {"p": str(value)},
    "pathlib.PurePosixPath": lambda value, to: {"p": str(value)},
    "re.Match": _match,
    "numpy.ndarray": _matrix,
    "pandas.DataFrame": _frame,
    "pandas.Series": lambda value, to: {
        "ps": [to.encode(value.index), to.encode(value.tolist()), str(value.dtype), to.encode(value.name)]
    },
    "pandas.Timestamp": lambda value, to: {"pt": value.isoformat()},
    "pandas.Timedelta": lambda value, to: {"pd": value.value},
    "pandas.NaTType": lambda value, to: {"k": "NaT"},
}
_BASES: tuple[tuple[type, Callable[[Any, Any], Any]], ...] = (
    (int, lambda value, to: to.encode(int(value))),
    (float, lambda value, to: to.encode(float(value))),
    (str, lambda value, to: to.encode("".join(value))),
    (bytes, lambda value, to: {"b": _b64(bytes(value))}),
    (tuple, lambda value, to: {"t": to.items(value)}),
    (list, lambda value, to: to.items(list(value))),
    (dict, lambda value, to: to.encode(dict(value))),
    (set, lambda value, to: {"s": to.items(value)}),
    (frozenset, lambda value, to: {"f": to.items(value)}),
)


def find_encoder(value: Any) -> Encode | None:
    """None for a type that does not cross."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    full_name = f"{package}.{kind.__qualname__}"
    if full_name in _ENCODERS:
        return _ENCODERS[full_name]
    if package == "numpy":
        return _numpy_scalar if hasattr(value, "dtype") and hasattr(value, "tobytes") and value.shape == () else None
    if package == "pandas" and kind.__qualname__.endswith("Index"):
        return _index
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return _named_tuple
    if hasattr(kind, "__next__") and hasattr(kind, "__iter__"):
        return _iterator
    return next((encode for base, encode in _BASES if isinstance(value, base)), None)


def _numpy_scalar(value: Any, to: Any) -> Any:
    if value.dtype.kind not in _ARRAY_KINDS:
        raise TypeError(f"a numpy scalar of the type {value.dtype} cannot be sent")
    return {"ns": [value.dtype.str, _b64(value.tobytes())]}


def _named_tuple(value: Any, to: Any) -> Any:
    return {"N": [type(value).__name__, list(type(value)._fields), to.items(tuple(value))]}


def _iterator(value: Any, to: Any) -> Any:
    items = list(itertools.islice(value, _MAX_ITEMS + 1))
    if len(items) > _MAX_ITEMS:
        raise ValueError(f"an iterator of more than {_MAX_ITEMS} items cannot be sent")
    return {"I": to.items(items)}


def _numpy(held: Any, of: Any) -> Any:
    dtype, shape, data = held
    numpy = importlib.import_module("numpy")
    return numpy.frombuffer(b64decode(data), numpy.dtype(str(dtype))).reshape(shape).copy()


def _numpy_of_objects(held: Any, of: Any) -> Any:
    shape, items = held
    numpy = importlib.import_module("numpy")
    flat = numpy.empty(len(items), dtype=object)
    flat[:] = of.items(items)
    return flat.reshape(shape)


def _rebuilt_match(held: Any, of: Any) -> Any:
    pattern, flags, text, start, end, span = held
    compiled = importlib.import_module("re").compile(pattern, flags)
    for find in (compiled.match, compiled.fullmatch, compiled.search):
        found = find(text, start, end)
        if found is not None and list(found.span()) == span:
            return found
    return next(found for found in compiled.finditer(text, start, end) if list(found.span()) == span)


def _rebuilt_index(held: Any, of: Any) -> Any:
    items, names, dtype, is_multi = held
    pandas = importlib.import_module("pandas")
    if is_multi:
        return pandas.MultiIndex.from_tuples(of.decode(items), names=of.decode(names))
    made = pandas.Index(of.decode(items), name=of.decode(names)[0])
    return made if str(made.dtype) == dtype else made.astype(dtype)


def _rebuilt_series(held: Any, of: Any) -> Any:
    index, values, dtype, name = held
    pandas = importlib.import_module("pandas")
    kind = "object" if dtype == "object" else None
    made = pandas.Series(of.decode(values), index=of.decode(index), name=of.decode(name), dtype=kind)
    return made if str(made.dtype) == dtype else made.astype(dtype)


def _rebuilt_frame(held: Any, of: Any) -> Any:
    columns, index, series = held
    pandas = importlib.import_module("pandas")
    rows = of.decode(index)
    parts = dict(enumerate(of.decode(one) for one in series))
    made = pandas.DataFrame(parts, index=rows)
    made.columns = of.decode(columns)
    return made


_FACTORIES = {kind.__name__: kind for kind in (bool, bytes, dict, float, frozenset, int, list, set, str, tuple)}
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "NaT": lambda: _of("pandas", "NaT"),
}

DECODERS: dict[str, Decode] = {
    "b": lambda held, of: b64decode(held),
    "B": lambda held, of: bytearray(b64decode(held)),
    "s": lambda held, of: set(of.items(held)),
    "f": lambda held, of: frozenset(of.items(held)),
    "d": lambda held, of: dict(of.pairs(held)),
    "c": lambda held, of: complex(*held),
    "r": lambda held, of: range(*of.items(held)),
    "sl": lambda held, of: slice(*of.items(held)),
    "k": lambda held, of: _CONSTANTS[held](),
    "dk": lambda held, of: dict.fromkeys(of.items(held)).keys(),
    "dv": lambda held, of: dict(enumerate(of.items(held))).values(),
    "di": lambda held, of: dict(of.items(held)).items(),
    "I": lambda held, of: iter(of.items(held)),
    "D": lambda held, of: _of("decimal", "Decimal")(held),
    "F": lambda held, of: _of("fractions", "Fraction")(*of.items(held)),
    "dt": lambda held, of: _of("datetime", "datetime").fromisoformat(held[0]).replace(fold=held[1]),
    "da": lambda held, of: _of("datetime", "date").fromisoformat(held),
    "ti": lambda held, of: _of("datetime", "time").fromisoformat(held),
    "td": lambda held, of: _of("datetime", "timedelta")(*held),
    "q": lambda held, of: _of("collections", "deque")(of.items(held[0]), held[1]),
    "O": lambda held, of: _of("collections", "OrderedDict")(of.pairs(held)),
    "C": lambda held, of: _of("collections", "Counter")(dict(of.pairs(held))),
    "z": lambda held, of: _of("collections", "defaultdict")(_FACTORIES.get(held[1]), of.pairs(held[0])),
    "N": lambda held, of: _of("collections", "namedtuple")(held[0], held[1])(*of.items(held[2])),
    "A": lambda held, of: _of("array", "array")(held[0], of.items(held[1])),
    "u": lambda held, of: _of("uuid", "UUID")(hex=held),
    "p": lambda held, of: _of("pathlib", "PurePosixPath")(held),
    "re": _rebuilt_match,
    "np": _numpy,
    "no": _numpy_of_objects,
    "ns": lambda held, of: _numpy([held[0], [], held[1]], of)[()],
    "ps": _rebuilt_series,
    "pf": _rebuilt_frame,
    "pi": _rebuilt_index,
    "pt": lambda held, of: _of("pandas", "Timestamp")(held),
    "pd": lambda held, of: _of("pandas", "Timedelta")(held),
}
