"""Several databases, asked as if they were one: what `discreet ask` does, with the same code in the binary."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _bench
from ._answer import Noisy, table
from ._errors import ConnectionLostError, Error
from ._sync import Database
from ._values import Number, Price, Quote, Receipt, Remaining, question


@dataclass(frozen=True)
class Share:
    """What one of the databases answered and charged."""

    price: Price
    remaining: Remaining
    receipt: Receipt
    notes: list[str]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Share:
        return cls(Price.of(raw["cost"]), Remaining.of(raw["remaining"]), Receipt.of(raw["receipt"]), list(raw.get("notes") or []), raw)


@dataclass(repr=False, kw_only=True)
class Total(Noisy):
    """What several databases have answered together, with the error of the total.

    ``of`` says for each row of how many databases it is: of those that list its keys.
    """

    of: list[int]
    shares: dict[str, Share]
    request: str

    @property
    def free(self) -> bool:
        """Whether it cost nothing anywhere."""
        return not any(s.price for s in self.shares.values())

    def _words(self) -> list[str]:
        lines = super()._words()
        for name, share in self.shares.items():
            lines += [f"note of {name}: {n}" for n in share.notes]
            lines.append(f"{name}: {share.price if share.price else 'free, already paid for'}; left: {share.remaining}")
        return lines

    def _receipts(self) -> str:
        return "; ".join(f"{name}: {share.receipt}" for name, share in self.shares.items())

    def _attributes(self) -> dict[Any, Any]:
        return {"shares": self.shares, **super()._attributes()}


@dataclass(frozen=True, repr=False)
class TotalQuote:
    """What a question would cost at each database, and how exact the total would be. It is free."""

    errors: dict[str, float | None]
    quotes: dict[str, Quote]
    confidence: float

    @property
    def affordable(self) -> bool:
        """Whether all of them would answer."""
        return all(q.affordable or q.free for q in self.quotes.values())

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = []
        for name, error in self.errors.items():
            known = "known with the answer" if error is None else f"±{error:.5g} with probability {self.confidence:g}"
            lines.append(f"error of {name}: {known}")
        for name, q in self.quotes.items():
            price = "free, already paid for" if q.free else str(q.price) if q.affordable else f"{q.price}, which the budget cannot pay"
            lines.append(f"{name}: {price}; left: {q.remaining}")
        return "\n".join(lines)


class Group:
    """Databases that you ask together: see :func:`together`."""

    def __init__(self, databases: Mapping[str, Database]) -> None:
        self._databases = dict(databases)
        self._lost: dict[str, str] = {}  # questions without an answer, and their names

    def _send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        servers = []
        for name, db in self._databases.items():
            at = db._transport.endpoint()
            servers.append({"name": name, "address": at.address, "token": at.token, "dataset": db.dataset, "trust": db._transport.ca})
        found, _ = _bench.call(path, {"servers": servers, **body}, sql=body["sql"], request=body.get("request"))
        return found

    def quote(
        self,
        sql: str,
        parameters: Sequence[Any] | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        confidence: float | None = None,
        **settings: Any,
    ) -> TotalQuote:
        """Says what a question would cost at each, and how exact the total would be. It is free."""
        found = self._send("/together/quote", question(sql, parameters, epsilon, error, {"confidence": confidence, **settings}))
        errors = {c["name"]: e for c, e in zip(found["columns"], found["errors"], strict=True) if c["noisy"]}
        return TotalQuote(errors, {s["server"]: Quote.of(s["price"]) for s in found["servers"]}, found["confidence"])

    def ask(
        self,
        sql: str,
        parameters: Sequence[Any] | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        confidence: float | None = None,
        request: str | None = None,
        **settings: Any,
    ) -> Total:
        """Asks all of them, pays each, and puts the answers together.

        Prices come first: where one is away, refuses or has not enough left, nobody is asked and
        nothing is charged. Where one fails after that it is a :class:`PartialError`: ask again with
        its ``request``, which no database charges twice. ``epsilon`` and ``error`` are those of each.
        """
        body = question(sql, parameters, epsilon, error, {"confidence": confidence, **settings})
        what = json.dumps(body, sort_keys=True)
        key = request or self._lost.pop(what, None) or "py-" + secrets.token_urlsafe(18)
        try:
            found = self._send("/together", {**body, "request": key})
        except BaseException as error:
            if request is None and (isinstance(error, ConnectionLostError) or not isinstance(error, Error)):
                self._lost[what] = key  # Ctrl-C: some may have charged it, who do not again when the same is asked
            raise
        return Total(
            **table(found["columns"], found["rows"], found["errors"]),
            confidence=found["confidence"],
            notes=list(found.get("notes") or []),
            of=list(found["of"]),
            shares={s["server"]: Share.of(s["answer"]) for s in found["servers"]},
            request=found["request"],
            raw=found,
        )


def together(databases: Mapping[str, Database] | Sequence[Database]) -> Group:
    """Several databases, to be asked as if they were one: counts, sums and averages, also by groups.

    Each charges its own budget, and no database learns what another has answered. Give them names,
    or a list: then they are called by their addresses, or their places.
    """
    if isinstance(databases, Mapping):
        return Group(databases)
    names: dict[str, Database] = {}
    for n, db in enumerate(databases, 1):
        address = db._transport.endpoint().address
        name = f"database {n}" if address.startswith("unix:") else address + (f"/{db.dataset}" if db.dataset else "")
        names[f"{name} ({n})" if name in names else name] = db
    return Group(names)
