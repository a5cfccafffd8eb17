"""The server's side of a spawner: start it, request boxes, notice its death."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.channel import Channel, wait_readable
from sandbox_runtime.isolation.inside import warm_pages, wire

START_TIMEOUT_S = 120.0
REPLY_TIMEOUT_S = 20.0
END_TIMEOUT_S = 10.0
STDERR_TAIL_BYTES = 4096

START = os.path.join(os.path.dirname(__file__), "inside", "start.py")
CODE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
_TITLE_PADDING = " " * 200


class Spawner:
    """A gate process with a spawner behind it. A dead one stays dead; the backend starts another."""

    def __init__(self, python: str, env: Mapping[str, str], config: wire.Message) -> None:
        self._python = python
        self._env = dict(env)
        self._config = config
        self._waiting: dict[str, asyncio.Future[list[int]]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._user_namespace = -1
        self.alive = False
        self.boxes = 0
        """Open boxes that were forked from it."""

    async def start(self, user_namespace: int = -1) -> None:
        """Start the spawner.

        user_namespace: descriptor of the namespace that it joins; -1 lets it create its own.
        """
        ours, theirs = wire.pair()
        with theirs:
            self._channel = Channel(ours)
            self._process = subprocess.Popen(
                [self._python, START, "spawner", str(theirs.fileno()), _TITLE_PADDING],
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd="/",
            )
        try:
            self._channel.send(self._config, [user_namespace] if user_namespace >= 0 else [])
            received = await self._channel.receive(START_TIMEOUT_S)
            if received.message is None or not received.message.get("ready"):
                reason = (received.message or {}).get("fault") or self._stderr_tail()
                raise Unavailable(f"cannot open boxes on this host: {reason}")
            self._hold(received.descriptors)
        except BaseException:
            await self.close()
            raise
        self.alive = True
        asyncio.get_running_loop().add_reader(self._channel.fileno(), self._on_message)

    def take_user_namespace(self) -> int:
        """Return a descriptor of its user namespace and give up ownership of it. Returns -1 if that is the server's own
        namespace."""
        namespace, self._user_namespace = self._user_namespace, -1
        return namespace

    def _hold(self, descriptors: list[int]) -> None:
        self._user_namespace = descriptors.pop() if descriptors else -1

    async def open(self, box_id: str, box: wire.Message, descriptors: Sequence[int], *, single: bool) -> list[int]:
        """Fork a box and return the pidfds of its first process and, for a single-use box, of its runner. Further messages of
        the box come over its own channels."""
        if self._channel is None or not self.alive:
            raise PlatformFault("the spawner has ended")
        reply: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._waiting[box_id] = reply
        try:
            self._channel.send({"id": box_id, "box": box, "single": single}, descriptors)
            async with asyncio.timeout(REPLY_TIMEOUT_S):
                return await reply
        except TimeoutError as error:
            raise PlatformFault(f"the spawner did not answer within {REPLY_TIMEOUT_S:g} s") from error
        except asyncio.CancelledError:
            _close_unclaimed(reply)
            raise
        finally:
            del self._waiting[box_id]

    async def make_files(self, files: wire.Message, mount: int | None = None) -> list[int]:
        """Create a writable area. Returns descriptors of its folder and of the mount namespace that holds it.

        mount: the file system to use; None for memory.
        """
        if self._channel is None or not self.alive:
            raise PlatformFault("the spawner has ended")
        ours, theirs = wire.pair()
        with ours, theirs:
            passed = [theirs.fileno()] if mount is None else [theirs.fileno(), mount]
            self._channel.send({"id": "", "files": files}, passed)
            theirs.close()
            received = await Channel(ours).receive(REPLY_TIMEOUT_S)
        if received.message is None or len(received.descriptors) != 2:
            raise PlatformFault(f"cannot create files: {(received.message or {}).get('fault', 'their creator died')}")
        return received.descriptors

    def set_warm_pages(self, runs: warm_pages.PageRuns) -> None:
        """Set the memory pages that its boxes copy before they start."""
        if self._channel is not None and self.alive:
            self._channel.send({"warm_pages": runs})

    def _on_message(self) -> None:
        if self._channel is None:
            return
        try:
            received = self._channel.receive_nowait()
        except PlatformFault:
            self._mark_dead()
            return
        if received is None:
            return
        if received.message is None:
            self._mark_dead()
            return
        reply = self._waiting.get(received.message.get("opened") or received.message.get("refused", ""))
        if reply is not None and not reply.done() and received.descriptors:
            reply.set_result(received.descriptors[:])
            received.descriptors.clear()
        elif reply is not None and not reply.done():
            reply.set_exception(PlatformFault(f"the spawner cannot fork: {received.message.get('reason')}"))
        for descriptor in received.descriptors:
            os.close(descriptor)

    def _mark_dead(self) -> None:
        self.alive = False
        if self._channel is not None:
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(PlatformFault("the spawner died"))

    def _stderr_tail(self) -> str:
        """Return the end of the stderr of a spawner that failed to start."""
        if self._process is None or self._process.stderr is None:
            return "the spawner died"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        os.set_blocking(self._process.stderr.fileno(), False)
        text = self._process.stderr.read(STDERR_TAIL_BYTES) or b""
        return text.decode(errors="replace").strip() or "the spawner died without output"

    async def close(self) -> None:
        """Close the channel. The gate then kills the spawner, and the kernel kills everything below it."""
        if self._channel is not None:
            if self.alive:
                self._mark_dead()
            self._channel.close()
            self._channel = None
        if self._user_namespace >= 0:
            os.close(self.take_user_namespace())
        process, self._process = self._process, None
        if process is None:
            return
        try:
            if process.poll() is None:
                await _wait_for_exit(process)
        finally:
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()


async def _wait_for_exit(process: subprocess.Popen[bytes]) -> None:
    pidfd = os.pidfd_open(process.pid)
    try:
        await wait_readable(pidfd, END_TIMEOUT_S)
    except PlatformFault:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    finally:
        os.close(pidfd)
        process.wait(END_TIMEOUT_S)


def _close_unclaimed(reply: asyncio.Future[list[int]]) -> None:
    """Close the pidfds of a box that arrived just as its caller was cancelled. Without its channels the box exits by itself."""
    if reply.done() and not reply.cancelled() and reply.exception() is None:
        for descriptor in reply.result():
            os.close(descriptor)
