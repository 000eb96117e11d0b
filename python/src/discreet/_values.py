"""Small values other than answers."""

from __future__ import annotations

import datetime
import decimal
import fractions
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._text import clean

_LEAST = 1e-9  # less than that is what rounding up has left, and buys nothing

Number = int | float | str | decimal.Decimal | fractions.Fraction


def amount(value: float | None) -> str:
    """An amount for people."""
    if value is None:
        return "unbounded"
    return f"{value:.5g}" if abs(value) >= _LEAST else "0"


@dataclass(frozen=True)
class Price:
    """An amount of privacy. ``epsilon`` is the price; under a budget with a delta, ``rho`` is what adds up."""

    epsilon: float | None
    rho: float | None
    delta: float | None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Price:
        return cls(raw.get("epsilon"), raw.get("rho"), raw.get("delta"))

    def __bool__(self) -> bool:
        return any((self.epsilon, self.rho, self.delta))

    def __str__(self) -> str:
        if not self:
            return "free"
        text = f"epsilon {amount(self.epsilon)}"
        if self.rho is not None and self.rho != 0:
            text += f" (rho {amount(self.rho)})"
        if self.delta:
            text += f", delta {amount(self.delta)}"
        return text


@dataclass(frozen=True)
class Remaining:
    """What you can still spend: the smallest amount left in any account that a question is charged to."""

    epsilon: float | None
    rho: float | None
    delta: float | None
    pure: float | None
    keys_delta: float | None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Remaining:
        return cls(raw.get("epsilon"), raw.get("rho"), raw.get("delta"), raw.get("pure"), raw.get("keys_delta"))

    def __str__(self) -> str:
        text = f"epsilon {amount(self.epsilon)}"
        if self.delta:
            text += f" at delta {amount(self.delta)}"
        if self.rho is not None:
            text += f" (rho {amount(self.rho)})"
        return text


@dataclass(frozen=True)
class Receipt:
    """The charge in the ledger."""

    sequence: int
    hash: str
    free: bool
    now: str | None = None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Receipt:
        return cls(int(raw.get("sequence", 0)), str(raw.get("hash", "")), bool(raw.get("free", False)), raw.get("now"))

    def __str__(self) -> str:
        return f"record {self.sequence}, {self.hash}"


@dataclass(frozen=True, repr=False)
class Quote:
    """What a question would cost, and how exact its answer would be. It is free."""

    price: Price
    free: bool
    affordable: bool
    remaining: Remaining
    after: Remaining
    more: int | None
    errors: dict[str, float | None]
    confidence: float
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Quote:
        measures = [m for question in raw.get("questions") or [] for m in question.get("measures") or []]
        return cls(
            Price.of(raw["pay"]),
            bool(raw["known"]),
            bool(raw["affordable"]),
            Remaining.of(raw["remaining"]),
            Remaining.of(raw["after"]),
            raw.get("more"),
            {m["measure"]: m.get("error") for m in measures},
            float(raw["confidence"]),
            raw,
        )

    def __str__(self) -> str:
        lines = [f"price: {'free, already paid for' if self.free else self.price}"]
        for name, error in self.errors.items():
            known = "cannot be known beforehand" if error is None else f"±{error:.5g} with probability {self.confidence:g}"
            lines.append(f"error of {name}: {known}")
        lines.append(f"left: {self.remaining}; afterwards: {self.after}")
        if not self.affordable:
            lines.append("the budget cannot pay for it")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ._html import quote

        return quote(self)


@dataclass(frozen=True, repr=False)
class Budget:
    """What is spent, and what is left."""

    dataset: str
    remaining: Remaining | None
    questions: int | None
    accounts: list[dict[str, Any]]
    promise: list[str]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Budget:
        left = raw.get("remaining")
        return cls(
            raw["dataset"], Remaining.of(left) if left else None, raw.get("questions"), raw["accounts"], raw.get("promise") or []
        )

    def __str__(self) -> str:
        text = f"{self.dataset}: {self.remaining} left"
        return text + (f", about {self.questions} questions at the default price" if self.questions is not None else "")

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Table:
    """A table that you can ask about: its columns, from the policy."""

    name: str
    public: bool
    person: str
    columns: list[dict[str, Any]]
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Table:
        return cls(raw["name"], raw["public"], raw["person"], raw["columns"], raw)

    def __str__(self) -> str:
        return "\n".join(clean(line) for line in [self.name, *(f"  {_described(c)}" for c in self.columns)])

    def __repr__(self) -> str:
        return clean(f"{self.name}({', '.join(str(c['name']) for c in self.columns)})")


def _described(column: Mapping[str, Any]) -> str:
    """A column in a line."""
    said = [f"{column['name']} {column['type']}"]
    bounds = column.get("bounds")
    if bounds:
        said.append(f"from {bounds['lowest']} to {bounds['highest']}")
    if column.get("values"):
        said.append("keys " + ", ".join("NULL" if v is None else str(v) for v in column["values"]))
    elif column.get("keys") not in (None, "none"):
        said.append(f"{column['keys']} keys")
    return ", ".join(said)


@dataclass(frozen=True)
class Count:
    """A stream's answer."""

    value: int
    error: int | None
    confidence: float
    way: str
    free: bool
    price: Price
    remaining: Remaining
    receipt: Receipt

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Count:
        return cls(
            raw["value"],
            raw.get("error"),
            raw["confidence"],
            raw["way"],
            raw["free"],
            Price.of(raw["cost"]),
            Remaining.of(raw["remaining"]),
            Receipt.of(raw["receipt"]),
        )

    def __int__(self) -> int:
        return self.value


@dataclass(frozen=True)
class Score:
    """A holdout's answer."""

    score: float
    error: float
    confidence: float
    spent: bool
    training: float
    left: int
    free: bool
    again: bool
    price: Price
    remaining: Remaining
    receipt: Receipt
    notes: list[str]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Score:
        return cls(
            float(raw["score"]),
            raw["error"],
            raw["confidence"],
            raw["spent"],
            float(raw["training"]),
            raw["left"],
            raw["free"],
            raw["again"],
            Price.of(raw["cost"]),
            Remaining.of(raw["remaining"]),
            Receipt.of(raw["receipt"]),
            list(raw.get("notes") or []),
        )

    def __float__(self) -> float:
        return self.score


@dataclass(frozen=True)
class Verdict:
    """A sparse session's answer: whether a number is at or above a threshold, judged with noise."""

    above: bool
    value: float | None
    left: int
    error: float

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Verdict:
        value = raw.get("value")
        return cls(raw["above"], None if value is None else float(value), raw["left"], raw["error"])

    def __bool__(self) -> bool:
        return self.above


@dataclass(frozen=True)
class Training:
    """A model that was trained on a server's rows."""

    id: str
    model: dict[str, Any] = field(repr=False)
    price: Price
    receipt: Receipt
    raw: dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Training:
        return cls(raw["id"], raw["model"], Price.of(raw["cost"]), Receipt.of(raw["receipt"]), raw)


def plain(value: Any) -> Any:
    """A Python number for a numpy one, which would be printed with its type, and is cut off where its bits end."""
    return value.item() if hasattr(value, "item") else value


def exactly(value: Number) -> str:
    """A number as text, with all of its digits; for a fraction, which may not end, those of a float."""
    value = plain(value)
    if isinstance(value, (float, fractions.Fraction)):
        return repr(float(value))
    return str(value)


def fraction(value: Number) -> fractions.Fraction:
    """A number as a fraction: 0.1 is one tenth. Its parts have as many digits as they need, whatever the number came in."""
    value = plain(value)
    if isinstance(value, float):
        return fractions.Fraction(repr(float(value)))
    if isinstance(value, numbers.Rational):
        return fractions.Fraction(int(value.numerator), int(value.denominator))
    return fractions.Fraction(value)


def parameter(value: Any) -> Any:
    """A value for $1, $2, ..., as the server reads it."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, decimal.Decimal):
        return {"kind": "decimal", "value": str(value)}
    if isinstance(value, datetime.datetime):
        return {"kind": "timestamp", "value": value.isoformat(" ")}
    if isinstance(value, datetime.date):
        return {"kind": "date", "value": value.isoformat()}
    if hasattr(value, "tolist"):  # numpy
        if value.dtype.kind == "M":  # of which those with nanoseconds would become whole numbers
            value = value.astype("datetime64[D]" if value.dtype.name == "datetime64[D]" else "datetime64[us]")
        return parameter(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [parameter(v) for v in value]
    raise TypeError(f"a parameter cannot be of the type {type(value).__name__}")


def question(
    sql: str, parameters: Sequence[Any] | None, epsilon: Number | None, error: Number | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """A question on the wire."""
    if not isinstance(sql, str) or not sql.strip():
        raise ValueError("a question must be SQL text, as in SELECT COUNT(*) FROM patients")
    if isinstance(parameters, (str, bytes, Mapping, int, float)):
        raise TypeError("parameters must be a list, with a value for each of $1, $2, ... in the SQL; give a price as epsilon=")
    values = [parameter(p) for p in parameters] if parameters is not None else []
    if values and "$" not in sql:
        raise ValueError("write parameters in the SQL as $1, $2, ..., as in WHERE age > $1")
    if epsilon is not None and error is not None:
        raise ValueError("give epsilon, or error, which finds the lowest price for it, not both")
    named = {"dp." + name: exactly(value) for name, value in settings.items() if value is not None}
    if error is not None:
        named["dp.error"] = exactly(error)
    return {
        "sql": sql,
        "parameters": values or None,
        "epsilon": None if epsilon is None else exactly(epsilon),
        "settings": named or None,
    }
