"""The exceptions."""

from __future__ import annotations

from typing import Any

from ._text import clean


class Error(Exception):
    """Something that the server or the binary said no to.

    ``reason`` says what is wrong, ``suggestion`` what to write instead (or is empty), ``position``
    where in ``sql`` as an index of a character (or is None), ``kind`` names it for programs, and
    ``spent`` says whether something was charged: True, False, or None where nobody knows.
    ``request`` names the question: asked again with it, it is not charged a second time.
    ``failures`` are those of each database, where several were asked together.
    """

    def __init__(
        self,
        reason: str,
        *,
        suggestion: str = "",
        position: int | None = None,
        sql: str | None = None,
        kind: str = "unexpected",
        status: int | None = None,
        spent: bool | None = None,
        request: str | None = None,
        details: list[str] | None = None,
        failures: list[dict[str, Any]] | None = None,
    ) -> None:
        self.reason = reason
        self.suggestion = suggestion
        self.position = position
        self.sql = sql
        self.kind = kind
        self.status = status
        self.spent = spent
        self.request = request
        self.details = details or []
        self.failures = failures or []
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [clean(line) for text in (self.reason, *self.details) for line in text.split("\n")]
        if self.sql is not None and self.position is not None and self.position <= len(self.sql):
            start = self.sql.rfind("\n", 0, self.position) + 1
            line = self.sql[start:].split("\n", 1)[0]
            lines += ["  " + line, "  " + " " * (self.position - start) + "^"]
        if self.suggestion:
            lines += map(clean, self.suggestion.split("\n"))
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.reason, self.__dict__.copy())


def _again(kind: type[Error], reason: str, state: dict[str, Any]) -> Error:
    error = kind.__new__(kind)
    error.__dict__.update(state)
    Exception.__init__(error, Error._text(error))
    return error


class RefusedError(Error):
    """The question cannot be asked; nothing was charged."""


class InvalidError(Error, ValueError):
    """The input is not valid; nothing was charged."""


class BudgetError(Error):
    """The budget cannot pay for it; nothing was charged."""


class PriceError(Error):
    """You asked for a free answer only, and it is not free; nothing was charged."""


class AuthenticationError(Error, PermissionError):
    """The token is wrong or no longer valid, or there were too many wrong ones."""


class ForbiddenError(Error, PermissionError):
    """You may not do this."""


class NotFoundError(Error, LookupError):
    """It does not exist, or it is not yours."""


class ConflictError(Error):
    """The request was used for another question, or its window of the budget has ended."""


class ClosedError(Error):
    """Questions failed after they were charged: no new answers until the owner has released them."""


class LimitError(Error):
    """Too many questions at once; nothing was charged."""


class EndedError(Error):
    """The session has ended."""


class CanceledError(Error):
    """It was canceled; what was charged stays charged."""


class UnavailableError(Error):
    """The server cannot answer now: it is starting or stopping, or its ledger cannot be written."""


class TrainingError(Error):
    """A training ended without a model; what was charged stays charged."""


class ConnectionLostError(Error, ConnectionError):
    """Nobody answered for longer than ``patience``.

    Whether something was charged is not known. Asked again with ``request=error.request`` it is
    charged once.
    """


class PartialError(Error):
    """Of several databases some have answered and others have not.

    Asked again with ``request=error.request``, no database charges it twice.
    """


class BinaryError(Error):
    """The discreet command could not be started on this machine."""


_KINDS: dict[str, type[Error]] = {
    "refused": RefusedError,
    "invalid": InvalidError,
    "body": InvalidError,
    "unsupported": InvalidError,
    "budget": BudgetError,
    "price": PriceError,
    "denied": AuthenticationError,
    "locked": AuthenticationError,
    "role": ForbiddenError,
    "origin": ForbiddenError,
    "missing": NotFoundError,
    "path": NotFoundError,
    "request": ConflictError,
    "window": ConflictError,
    "closed": ClosedError,
    "limit": LimitError,
    "ended": EndedError,
    "timeout": CanceledError,
    "canceled": CanceledError,
    "opening": UnavailableError,
    "ending": UnavailableError,
    "users": UnavailableError,
    "moved": ConflictError,
    "ledger": UnavailableError,
    "data": UnavailableError,
    "training": TrainingError,
    "away": UnavailableError,
    "unasked": UnavailableError,
    "partial": PartialError,
}


# Tracebacks name them as they are caught.
for _kind in {Error, BinaryError, ConnectionLostError, *_KINDS.values()}:
    _kind.__module__ = "discreet"

# What servers suggest to those who write headers.
_INSTEAD = {"denied": "check token= or DISCREET_TOKEN; 'discreet user token' makes one"}


def error_of(status: int, problem: dict[str, Any], sql: str | None = None, request: str | None = None) -> Error:
    """The exception for a problem (RFC 9457) that the server sent."""
    kind = str(problem.get("kind", "unexpected"))
    position = problem.get("position")
    if not isinstance(position, int) or position < 0:
        position = None
    elif sql is not None:  # it counts bytes
        position = len(sql.encode()[:position].decode(errors="ignore"))
    found = problem.get("errors")
    faults = [
        " ".join(str(x) for x in (fault.get("location"), fault.get("message")) if x)
        for fault in (found if isinstance(found, list) else [])
        if isinstance(fault, dict)
    ]
    return _KINDS.get(kind, Error)(
        str(problem.get("detail") or f"the server answered {status}"),
        suggestion=_INSTEAD.get(kind) or str(problem.get("instead") or ""),
        position=position,
        sql=sql,
        kind=kind,
        status=status,
        spent=problem.get("spent"),
        request=problem.get("request") or request,
        details=faults,
        failures=problem.get("failures"),
    )
