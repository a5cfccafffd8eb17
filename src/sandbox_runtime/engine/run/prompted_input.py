"""Standard input that is sent when the program prints a prompt.

The output is searched for the prompt as it arrives. On the first match the reply is written and the input closed, so the text
of the reply is nowhere in the box before. Later prompts are not answered.
"""

from __future__ import annotations

import contextlib

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.isolation.port import RunningCommand, Sink
from sandbox_runtime.model.job import Reply


class PromptedInput:
    """For one run of a command. `sink` receives all output as well."""

    def __init__(self, reply: Reply, sink: Sink | None) -> None:
        self._reply = reply
        self._sink = sink
        self._tail = b""
        self.prompt_seen = False
        self._running: RunningCommand | None = None

    def connect(self, running: RunningCommand) -> None:
        self._running = running
        if self.prompt_seen:
            self._send(running)

    def on_output(self, stream: str, piece: bytes) -> None:
        if stream == "stdout" and not self.prompt_seen:
            self._search(piece)
        if self._sink is not None:
            self._sink(stream, piece)

    def _search(self, piece: bytes) -> None:
        """Search for the prompt, which may arrive in several pieces: the end of the last one is kept."""
        text = self._tail + piece
        self.prompt_seen = self._reply.prompt in text
        self._tail = text[-len(self._reply.prompt) :]
        if self.prompt_seen and self._running is not None:
            self._send(self._running)

    def _send(self, running: RunningCommand) -> None:
        with contextlib.suppress(InvalidRequest):  # the program has closed its input
            running.feed(self._reply.text)
            running.end_input()
