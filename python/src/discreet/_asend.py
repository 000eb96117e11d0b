"""The transport for asyncio: the same one, in threads."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ._transport import Response, Transport

_MOST_AT_ONCE = 64


class AsyncTransport:
    """Sends requests without blocking the loop."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._pools: dict[int, ThreadPoolExecutor] = {}  # by process: threads do not survive a fork

    def _threads(self) -> ThreadPoolExecutor:
        pid = os.getpid()
        if pid not in self._pools:  # all of this is in the thread of the loop
            self._pools[pid] = ThreadPoolExecutor(_MOST_AT_ONCE, thread_name_prefix="discreet")
        return self._pools[pid]

    @property
    def name(self) -> str:
        """The server that it is connected to."""
        return self._transport.name

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        again: bool = True,
        sql: str | None = None,
        request: str | None = None,
    ) -> Response:
        """Sends a request: see :class:`Transport`."""
        job = functools.partial(self._transport.send, method, path, body, headers, again=again, sql=sql, request=request)
        return await asyncio.get_running_loop().run_in_executor(self._threads(), job)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._transport,)

    async def aclose(self) -> None:
        """Closes all connections."""
        self._transport.close()
        self._threads().shutdown(wait=False)
