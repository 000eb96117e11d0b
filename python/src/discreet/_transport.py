"""HTTP over connections that stay open, from any number of threads and forks."""

from __future__ import annotations

import http.client
import json
import os
import random
import select
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ._errors import ConnectionLostError, Error, error_of


@dataclass(frozen=True)
class Endpoint:
    """An address (http://, https:// or unix:) and the token for it."""

    address: str
    token: str = field(repr=False)


@dataclass
class Response:
    """An answer that was read to its end."""

    status: int
    type: str
    retry_after: float
    body: bytes

    def problem(self) -> dict[str, Any]:
        """What is wrong, if the status says that something is."""
        try:
            found = json.loads(self.body)
        except ValueError:
            found = None
        return found if isinstance(found, dict) else {"detail": f"the server answered {self.status}"}


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _connect(endpoint: Endpoint, timeout: float | None, ca: str | None) -> http.client.HTTPConnection:
    if endpoint.address.startswith("unix:"):
        return _UnixConnection(endpoint.address.removeprefix("unix:"), timeout)
    url = urlsplit(endpoint.address)
    if url.scheme == "https":
        context = ssl.create_default_context(cafile=ca)
        return http.client.HTTPSConnection(url.hostname or "", url.port, timeout=timeout, context=context)
    return http.client.HTTPConnection(url.hostname or "", url.port, timeout=timeout)


def _stale(connection: http.client.HTTPConnection) -> bool:
    """Whether the other side has closed an unused connection, so that nothing is sent in vain."""
    if connection.sock is None:
        return True
    try:
        return bool(select.select([connection.sock], [], [], 0)[0])
    except (OSError, ValueError):
        return True


_BROKEN = (OSError, http.client.HTTPException)

# After these nothing was charged, and asking again in a while helps.
_LATER = {"limit", "opening", "ending", "users"}


class Transport:
    """Sends requests, and sends those again that may be sent twice.

    ``patience`` is for how many seconds it tries where nobody answers or the server says that it
    is too busy; ``timeout`` how long it waits for one answer, or None.
    """

    def __init__(
        self,
        where: Callable[[], Endpoint],
        *,
        name: str,
        patience: float = 30.0,
        timeout: float | None = None,
        ca: str | None = None,
    ) -> None:
        self.name = name
        self._where = where
        self._patience = patience
        self._timeout = timeout
        self._ca = ca
        # By process, for a fork must not talk over what is its parent's. There is no lock, which a thread could hold while another forks.
        self._open: dict[int, deque[tuple[Endpoint, http.client.HTTPConnection]]] = {}

    def endpoint(self) -> Endpoint:
        """Where the server is, and the token for it."""
        return self._where()

    @property
    def ca(self) -> str | None:
        """A file with the server's certificate, if no public authority signed it."""
        return self._ca

    def _idle(self) -> deque[tuple[Endpoint, http.client.HTTPConnection]]:
        """Unused connections of this process."""
        return self._open.setdefault(os.getpid(), deque())

    def _take(self, endpoint: Endpoint) -> http.client.HTTPConnection:
        idle = self._idle()
        while True:
            try:
                at, connection = idle.pop()
            except IndexError:
                return _connect(endpoint, self._timeout, self._ca)
            if at == endpoint and not _stale(connection):
                return connection
            connection.close()

    def _once(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        endpoint = self._where()
        connection = self._take(endpoint)
        try:
            prefix = "" if endpoint.address.startswith("unix:") else urlsplit(endpoint.address).path.rstrip("/")
            whole = True
            try:
                connection.request(method, prefix + path, body, {**headers, "Authorization": "Bearer " + endpoint.token})
            except (BrokenPipeError, ConnectionResetError):
                whole = False  # it may have said no before it read all of a long request
            answer = connection.getresponse()
            data = answer.read()
        except BaseException:
            connection.close()
            raise
        if answer.will_close or not whole:
            connection.close()
        else:
            self._idle().append((endpoint, connection))
        try:
            wait = float(answer.headers.get("Retry-After") or 0)
        except ValueError:
            wait = 0.0
        return Response(answer.status, answer.headers.get_content_type(), wait, data)

    def send(
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
        """Sends a request, and raises what the answer says is wrong.

        ``again`` says that it may arrive twice: that nothing is charged twice for it.
        """
        given_up = time.monotonic() + self._patience
        pause = 0.05
        while True:
            try:
                answer = self._once(method, path, body, headers or {})
            except _BROKEN as error:
                wrong = _misdirected(error)
                if wrong is not None:
                    raise wrong from error
                if not again or time.monotonic() + pause > given_up:
                    raise _lost(error, request) from error
                time.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(2.0, pause * 2)
                continue
            if answer.status < 300:
                return answer
            if answer.status < 400:  # the token is for this server, and goes nowhere else
                raise Error(
                    "the server redirects to another address, and redirects are not followed",
                    suggestion="connect to that address directly",
                    status=answer.status,
                )
            problem = answer.problem()
            wait = max(answer.retry_after, pause)
            if str(problem.get("kind")) in _LATER and time.monotonic() + wait < given_up:
                time.sleep(wait)
                continue
            raise error_of(answer.status, problem, sql, request)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._where(), self.name, self._patience, self._timeout, self._ca)

    def close(self) -> None:
        """Closes all connections."""
        idle = self._idle()
        while idle:
            idle.pop()[1].close()


def _again(endpoint: Endpoint, name: str, patience: float, timeout: float | None, ca: str | None) -> Transport:
    return Transport(lambda: endpoint, name=name, patience=patience, timeout=timeout, ca=ca)


def _misdirected(error: BaseException) -> ConnectionLostError | None:
    """Errors that waiting does not cure, because no Discreet server listens there; nothing was read there, so nothing was charged."""
    reason, suggestion = "", ""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = f"the certificate of the server is not valid: {error}"
        suggestion = "ca= names the file with a certificate that no public authority signed"
    elif isinstance(error, ssl.SSLError) and error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        reason, suggestion = "the server at this address does not use TLS", "check the port, by default 8432; on this machine http:// may work"
    elif isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME:
        reason, suggestion = "there is no host with this name", "check the address"
    elif isinstance(error, http.client.BadStatusLine) and str(error).startswith("E\0\0"):
        reason, suggestion = "this is the port for PostgreSQL clients", "use the HTTP port, by default 8432"
    return ConnectionLostError(reason, suggestion=suggestion, kind="connection", spent=False) if reason else None


def _lost(error: BaseException, request: str | None) -> ConnectionLostError:
    name = f": {error}" if str(error) else f": {type(error).__name__}"
    return ConnectionLostError(
        "the server does not answer" + name,
        suggestion=f"ask again with request={request!r}, which is not charged twice" if request else "try again in a while",
        kind="connection",
        request=request,
    )


