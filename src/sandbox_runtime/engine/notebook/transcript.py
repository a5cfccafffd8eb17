"""Turn the driver's events into results of cells.

Events come out of the box, so they are as untrusted as any other output: each is checked, malformed ones are dropped, and
everything kept is bounded.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.engine.notebook.buffers import HeadTailBuffer
from sandbox_runtime.model.bounds import count_json_values
from sandbox_runtime.model.notebook import CellEnding, CellError, CellResult

MAX_DISPLAYS = 10_000
MAX_ERRORS = 1_000
MAX_TRACEBACK_LINES = 1_000
MAX_DEPTH = 32
MAX_ELEMENTS = 100_000
"""Values in all displays and errors together. Parsing blocks the event loop for about a microsecond per value, however short."""
LARGE_BYTES = 64 * 1024
"""Larger events are parsed in a thread."""
_SMALL_BYTES = 4 * 1024
_FEW_ELEMENTS = 64
"""Text-only events have fewer, and cost no more than their length."""

Event = Mapping[str, Any]


def parse(line: bytes) -> Event | None:
    """Return an event, or None if the line is none."""
    try:
        event = json.loads(line, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


@dataclass(frozen=True, slots=True)
class ParsedEvent:
    """A parsed event."""

    size: int
    event: Event | None = None
    """None if the line is no event."""
    data: Mapping[str, Any] | None = None
    """Of a display; None if it is nested too deeply."""
    elements: int = 0
    """How much of MAX_ELEMENTS it uses."""
    dropped: bool = False
    """It has more values than there is room for, and was not parsed."""


def read_event(line: bytes, elements_left: int) -> ParsedEvent:
    """Parse a line. Thread-safe: it touches nothing else."""
    count = count_json_values(line, _FEW_ELEMENTS) if len(line) > _SMALL_BYTES else 0
    count = count if count > _FEW_ELEMENTS else 0
    if count > elements_left:
        return ParsedEvent(len(line), dropped=True)
    event = parse(line)
    data = event.get("data") if event is not None else None
    kept = _clean(data) if isinstance(data, dict) and _is_shallow(data, MAX_DEPTH) else None
    return ParsedEvent(len(line), event, kept, count)


class _Cell:
    def __init__(self, keep_bytes: int) -> None:
        self.streams = {"stdout": HeadTailBuffer(keep_bytes), "stderr": HeadTailBuffer(keep_bytes)}
        self.displays: list[Mapping[str, Any]] = []
        self.errors: list[CellError] = []
        self.dropped = 0
        self.ending: CellEnding | None = None
        self.death = ""

    def result(self, ending_error: CellError | None) -> CellResult:
        assert self.ending is not None
        return CellResult(
            ending=self.ending,
            stdout=self.streams["stdout"].output(),
            stderr=self.streams["stderr"].output(),
            displays=tuple(self.displays),
            errors=(*self.errors, ending_error) if ending_error is not None else tuple(self.errors),
            dropped_displays=self.dropped,
        )


class Transcript:
    """The transcript of one notebook. `keep_bytes` bounds each stream of a cell, and all displays and errors together."""

    def __init__(self, cells: int, cell_wall_s: float | None, keep_bytes: int) -> None:
        self._cells = [_Cell(keep_bytes) for _ in range(cells)]
        self._cell_wall_s = cell_wall_s
        self._room = keep_bytes
        self._displays = self._errors = 0
        self.elements_left = MAX_ELEMENTS
        self._handlers: Mapping[str, Callable[[_Cell, Event, ParsedEvent], None]] = {
            "stream": self._stream,
            "display": self._display,
            "error": self._error,
            "dropped": self._dropped,
            "done": self._done,
        }

    @property
    def complete(self) -> bool:
        return all(cell.ending is not None for cell in self._cells)

    @property
    def begun(self) -> bool:
        return any(cell.ending is not None for cell in self._cells)

    def results(self, cause: str = "") -> tuple[CellResult, ...]:
        """Return the results of the cells that ended. `cause` is what the platform knows about the kernel's death."""
        return tuple(cell.result(self._ending_error(cell, cause)) for cell in self._cells if cell.ending is not None)

    def add_line(self, line: bytes) -> None:
        self.add_event(read_event(line, self.elements_left))

    def add_event(self, read: ParsedEvent) -> None:
        """Keep what an event says, as far as there is room."""
        self.elements_left -= read.elements
        if read.dropped:
            self._current().dropped += 1
        if (event := read.event) is None:
            return
        number, kind = event.get("cell"), event.get("event")
        if isinstance(number, int) and 0 <= number < len(self._cells) and isinstance(kind, str) and kind in self._handlers:
            self._handlers[kind](self._cells[number], event, read)

    def _current(self) -> _Cell:
        return next((cell for cell in self._cells if cell.ending is None), self._cells[-1])

    def add_output(self, name: str, piece: bytes) -> int:
        """Add output of the process itself and return the total. For transcripts of a single cell."""
        stream = self._cells[0].streams[name]
        stream.add(piece)
        return stream.total_bytes

    def add_error(self, error: CellError) -> None:
        """Add an error of the platform to a single cell."""
        self._cells[0].errors.append(error)

    def set_ending(self, how: str) -> None:
        """Set the ending of a single cell, as the platform knows it."""
        self._cells[0].ending = CellEnding(how)

    def _stream(self, cell: _Cell, event: Event, _read: ParsedEvent) -> None:
        name, text = event.get("name"), event.get("text")
        if isinstance(name, str) and isinstance(text, str) and name in cell.streams:
            cell.streams[name].add(replace_surrogates(text).encode())

    def _display(self, cell: _Cell, event: Event, read: ParsedEvent) -> None:
        if not isinstance(event.get("data"), dict):
            return
        if read.data is None or self._displays >= MAX_DISPLAYS or read.size > self._room:
            cell.dropped += 1
            return
        self._displays += 1
        self._room -= read.size
        cell.displays.append(read.data)

    def _error(self, cell: _Cell, event: Event, read: ParsedEvent) -> None:
        size = read.size
        name, text, lines = event.get("ename"), event.get("evalue"), event.get("traceback")
        if not (isinstance(name, str) and isinstance(text, str) and isinstance(lines, list)):
            return
        if self._errors >= MAX_ERRORS:
            return
        self._errors += 1
        if size > self._room:
            name, text, lines, size = name[:100], f"{text[:100]}… (too long)", [], 0
        self._room -= size
        ending_error = tuple(replace_surrogates(line) for line in lines[:MAX_TRACEBACK_LINES] if isinstance(line, str))
        cell.errors.append(CellError(replace_surrogates(name), replace_surrogates(text), ending_error))

    def _dropped(self, cell: _Cell, _event: Event, _read: ParsedEvent) -> None:
        cell.dropped += 1

    def _done(self, cell: _Cell, event: Event, _read: ParsedEvent) -> None:
        how = event.get("how")
        if cell.ending is None and isinstance(how, str) and how in CellEnding.__members__:
            cell.ending = CellEnding(how)
            cell.death = _cause_of_death(event)

    def _ending_error(self, cell: _Cell, cause: str) -> CellError | None:
        """Return the error that explains a cell's ending, if its own exceptions do not."""
        after = f"after {self._cell_wall_s:g} s (cell_timeout)" if self._cell_wall_s is not None else "by the driver"
        match cell.ending:
            case CellEnding.timed_out:
                return CellError("CellTimeoutError", f"the cell was interrupted {after}")
            case CellEnding.killed:
                return CellError("CellTimeoutError", f"the cell was interrupted {after} and did not stop; its kernel was killed")
            case CellEnding.died:
                return CellError("DeadKernelError", f"the kernel died while it ran this cell: {cause or cell.death}")
            case CellEnding.not_run:
                return CellError("DeadKernelError", "the cell was not run: the kernel had ended before")
            case _:
                return None


def _cause_of_death(event: Event) -> str:
    number, code = event.get("signal"), event.get("code")
    if isinstance(number, int):
        return f"it was ended by signal {number}"
    return f"it exited with status {code}" if isinstance(code, int) else "it is not known how"


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which no encoding can carry."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_shallow(value: object, depth: int) -> bool:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return depth > 0 and all(_is_shallow(item, depth - 1) for item in inner)
    return True


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {replace_surrogates(name): _clean(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
