"""Connecting to a server or a policy."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from urllib.parse import urlsplit

from ._aio import AsyncDatabase
from ._asend import AsyncTransport
from ._errors import AuthenticationError, BinaryError
from ._process import Lease, lease
from ._sync import Database
from ._transport import Endpoint, Transport


def _address(text: str) -> str:
    """The address of a server that a token can be sent to: over TLS, or on this machine."""
    url = urlsplit(text)
    if not url.hostname or url.username is not None or url.query or url.fragment:
        raise BinaryError(
            "this is not an address; write one such as https://db.example:8432", suggestion="give a token in token= or DISCREET_TOKEN", kind="binary"
        )
    if url.scheme == "http" and not _here(url.hostname):
        raise AuthenticationError(
            f"{text} does not use TLS, so anybody on the way could read the token",
            suggestion="connect to https://, or to a server on this machine; ca= names a certificate that no public authority signed",
            kind="denied",
            spent=False,
        )
    return text.rstrip("/")


def _here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _open(
    where: str | os.PathLike[str],
    token: str | None,
    analyst: str | None,
    patience: float,
    timeout: float | None,
    ca: str | os.PathLike[str] | None,
    memory: str | None,
    threads: int | None,
) -> tuple[Transport, Lease | None]:
    text = os.fspath(where)
    if text.startswith(("http://", "https://")):
        token = (token or os.environ.get("DISCREET_TOKEN") or "").strip()
        if not token:
            raise AuthenticationError(
                "there is no token",
                suggestion="use connect(url, token=...), or put it in DISCREET_TOKEN; 'discreet user token' makes one",
                kind="denied",
                spent=False,
            )
        if not (token.isascii() and token.isprintable()):  # http.client would say it in its error
            raise AuthenticationError("a token must be a single line of text", kind="denied", spent=False)
        endpoint = Endpoint(_address(text), token)
        if ca is not None and not Path(ca).is_file():
            raise BinaryError(f"there is no certificate file {os.fspath(ca)}", kind="binary", spent=False)
        trusted = None if ca is None else os.fspath(ca)
        return Transport(lambda: endpoint, name=endpoint.address, patience=patience, timeout=timeout, ca=trusted), None
    if "://" in text:
        raise BinaryError(
            f"{text.split('://')[0]}:// is not an address of the HTTP interface",
            suggestion="connect to http:// or https://, or to a policy file; PostgreSQL's drivers take postgresql://",
            kind="binary",
        )
    if not Path(text).is_file():
        raise BinaryError(
            f"there is no policy file {text}",
            suggestion="'discreet init data.csv -o policy.yaml' drafts one; the address of a server begins with https:// or http://",
            kind="binary",
        )
    if Path(text).suffix.lower() in (".csv", ".parquet", ".duckdb"):
        raise BinaryError(
            f"{text} is data; open a policy for it instead",
            suggestion=f"'discreet init {text} --unit TABLE.COLUMN -o policy.yaml' drafts one, where TABLE.COLUMN identifies the person",
            kind="binary",
        )
    arguments: list[str] = []
    for flag, value in (("--as", analyst), ("--memory", memory), ("--threads", threads)):
        if value is not None:
            arguments += [flag, str(value)]
    held = lease(str(Path(text).absolute()), arguments)
    return Transport(held.endpoint, name=text, patience=patience, timeout=timeout), held


def connect(
    where: str | os.PathLike[str],
    token: str | None = None,
    *,
    dataset: str | None = None,
    analyst: str | None = None,
    patience: float = 30.0,
    timeout: float | None = None,
    ca: str | os.PathLike[str] | None = None,
    memory: str | None = None,
    threads: int | None = None,
) -> Database:
    """Connects to a server, by its address and a token, or opens a policy file on this machine.

        db = discreet.connect("hospital.yaml")
        db = discreet.connect("https://db.example:8432", token="dsc_...")

    where: a policy file, or an address. A policy is opened by the binary, which this starts and
        which ends with this process, or with ``db.close()``. Who connects to it again, here and in
        the same way, uses the same one; where the file was changed meanwhile it is read again.
    token: for a server; DISCREET_TOKEN unless given. 'discreet user token' makes one.
    dataset: which to ask about, where there are several.
    analyst: who asks, for a policy that lists several.
    patience: for how many seconds to try again where a server does not answer or is too busy.
    timeout: for how many seconds to wait for one answer; without end unless given.
    ca: a file with the certificate of a server that others do not know.
    memory, threads: what the binary may use, as in ``memory="4GB"``, ``threads=2``.
    """
    transport, held = _open(where, token, analyst, patience, timeout, ca, memory, threads)
    return Database(transport, dataset, held.close if held else _nothing)


def connect_async(
    where: str | os.PathLike[str],
    token: str | None = None,
    *,
    dataset: str | None = None,
    analyst: str | None = None,
    patience: float = 30.0,
    timeout: float | None = None,
    ca: str | os.PathLike[str] | None = None,
    memory: str | None = None,
    threads: int | None = None,
) -> AsyncDatabase:
    """The same for asyncio: await all methods, and close it with ``aclose`` or ``async with``."""
    transport, held = _open(where, token, analyst, patience, timeout, ca, memory, threads)
    return AsyncDatabase(AsyncTransport(transport), dataset, held.close if held else _nothing)


def _nothing() -> None:
    pass
