"""Answers: noisy tables with their error bars."""

from __future__ import annotations

import datetime
import json
import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from ._errors import Error
from ._text import clean
from ._values import Price, Receipt, Remaining

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


_NUMBERS = ("integer", "decimal", "real")


@dataclass(frozen=True)
class Column:
    """A column of an answer. ``kind`` is integer, decimal, real, text, boolean, date or timestamp."""

    name: str
    kind: str
    noisy: bool
    approximate: bool


@dataclass(repr=False, kw_only=True)
class Noisy:
    """``rows`` of noisy values, and ``errors`` beside them.

    An error is the half width of an interval that holds the exact value with the probability
    ``confidence``; None for keys, and where nobody can know it. ``errors`` is None where a query
    around other answers made the rows.
    """

    columns: list[Column]
    rows: list[tuple[Any, ...]]
    errors: list[tuple[float | None, ...]] | None
    confidence: float
    notes: list[str]
    raw: dict[str, Any] = field(repr=False, compare=False)
    whole: list[tuple[tuple[float, float] | None, ...]] | None = None
    """For each value the interval that includes what limits cut; None without a profile of the table."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [c.name for c in self.columns]

    @property
    def value(self) -> Any:
        """The single value of an answer that has only one."""
        if len(self.rows) != 1 or len(self.columns) != 1:
            raise ValueError(f"the answer has {len(self.rows)} rows and {len(self.columns)} columns, not a single value")
        return self.rows[0][0]

    @property
    def error(self) -> float | None:
        """The error of the single value of an answer that has only one."""
        self.value
        return self.errors[0][0] if self.errors else None

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    @overload
    def __getitem__(self, which: int) -> tuple[Any, ...]: ...
    @overload
    def __getitem__(self, which: slice) -> list[tuple[Any, ...]]: ...
    @overload
    def __getitem__(self, which: str) -> list[Any]: ...
    def __getitem__(self, which: int | slice | str) -> Any:
        """A row by its position, or the values of a column by its name; ``x_error`` holds the errors of ``x``."""
        if isinstance(which, str):
            columns = self.to_dict()
            if which not in columns:
                raise KeyError(f"there is no column {which}; the columns are {', '.join(columns)}")
            return columns[which]
        return self.rows[which]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        heads, lines = [], []
        bars, wide = self._bars(), self._wide()
        for i, c in enumerate(self.columns):
            heads += [clean(c.name)] + ([f"±{100 * self.confidence:.4g}%"] if i in bars else [])
            heads += ["with what is cut"] if i in wide else []
        for r, row in enumerate(self.rows):
            cells: list[str] = []
            for i, value in enumerate(row):
                shown, error = pair(value, self.error_at(r, i), self.columns[i].kind)
                cells += [shown, error] if i in bars else [shown]
                cells += [self._span(r, i)] if i in wide else []
            lines.append(cells)
        widths = [max(map(len, cells)) for cells in zip(heads, *lines, strict=True)]
        sides = [">" if kind in _NUMBERS else "<" for i, c in enumerate(self.columns) for kind in [c.kind] + ["real"] * ((i in bars) + (i in wide))]
        out = [
            "  ".join(f"{x:{side}{w}}" for x, side, w in zip(cells, sides, widths, strict=True)).rstrip() for cells in [heads, *lines]
        ]
        out.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join([*out, *map(clean, self._words())])

    def _words(self) -> list[str]:
        """The lines below the rows."""
        return [f"note: {n}" for n in self.notes]

    def _receipts(self) -> str:
        """The charges in the ledger."""
        return ""

    def _attributes(self) -> dict[Any, Any]:
        """What a pandas frame carries with its columns."""
        return {"confidence": self.confidence}

    def error_at(self, row: int, column: int) -> float | None:
        """The error of one value."""
        return self.errors[row][column] if self.errors else None

    def _wide(self) -> list[int]:
        """The columns that show an interval with what is cut; of a single row a note says it."""
        if not self.whole or len(self.rows) < 2:
            return []
        return [i for i in range(len(self.columns)) if any(row[i] for row in self.whole)]

    def _span(self, row: int, column: int) -> str:
        span = self.whole[row][column] if self.whole else None
        return f"{span[0]:.3g} .. {span[1]:.3g}" if span else ""

    def _bars(self) -> list[int]:
        """The columns that have errors."""
        if not self.errors:
            return [] if self.errors is None or self.rows else [i for i, c in enumerate(self.columns) if c.noisy]
        return [i for i, c in enumerate(self.columns) if c.noisy and any(row[i] is not None for row in self.errors)]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns by name, with a column ``x_error`` after each noisy column ``x``."""
        out: dict[str, list[Any]] = {}
        bars = self._bars()
        names = self.names
        for i, name in enumerate(names):
            out[unique(name, out)] = [row[i] for row in self.rows]
            if i in bars and name + "_error" not in names:
                out[unique(name + "_error", out)] = [self.error_at(r, i) for r in range(len(self.rows))]
        return out

    def _kinds(self) -> list[str]:
        """The kinds of the columns of :meth:`to_dict`."""
        bars, out = self._bars(), []
        for i, c in enumerate(self.columns):
            out += [c.kind] + (["real"] if i in bars and c.name + "_error" not in self.names else [])
        return out

    def _typed(self) -> Iterator[tuple[str, list[Any], str]]:
        """The columns of :meth:`to_dict` and their kinds, with whole numbers as floats if a column has other numbers too."""
        for (name, values), kind in zip(self.to_dict().items(), self._kinds(), strict=True):
            yield name, [None if v is None else float(v) for v in values] if kind in ("decimal", "real") else values, kind

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame, with a column ``x_error`` after each noisy column ``x``."""
        import numpy
        import pandas

        types = {"integer": "Int64", "decimal": "Float64", "real": "Float64", "boolean": "boolean", "text": "string"}
        out = {}
        for name, values, kind in self._typed():
            if kind in ("date", "timestamp"):  # in microseconds, which reach from the year 1 to 9999
                out[name] = pandas.Series(numpy.array(values, dtype="datetime64[us]"))
                continue
            column: Any = pandas.Series(values, dtype=types.get(kind, "object"))  # stubs differ from year to year
            if kind in ("integer", "decimal", "real", "boolean") and not column.isna().any():
                column = column.astype({"integer": "int64", "boolean": "bool"}.get(kind, "float64"))
            out[name] = column
        frame: pandas.DataFrame = pandas.DataFrame(out)
        frame.attrs = self._attributes()
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table, with a column ``x_error`` after each noisy column ``x``."""
        import pyarrow as pa

        types = {
            "integer": pa.int64(),
            "decimal": pa.float64(),
            "real": pa.float64(),
            "boolean": pa.bool_(),
            "text": pa.string(),
            "date": pa.date32(),
            "timestamp": pa.timestamp("us"),
        }
        columns = {
            name: pa.array(values, type=types.get(kind, pa.string()))
            for name, values, kind in self._typed()
        }
        return pa.table(columns)

    def to_polars(self) -> polars.DataFrame:
        """A Polars frame, with a column ``x_error`` after each noisy column ``x``."""
        import polars as pl

        types: dict[str, Any] = {
            "integer": pl.Int64,
            "decimal": pl.Float64,
            "real": pl.Float64,
            "boolean": pl.Boolean,
            "text": pl.String,
            "date": pl.Date,
            "timestamp": pl.Datetime("us"),
        }
        return pl.DataFrame(
            {name: pl.Series(name, values, dtype=types.get(kind, pl.String), strict=False) for name, values, kind in self._typed()}
        )

    def ufloat(self) -> Any:
        """Values with their standard deviations, for the package uncertainties.

        One value where the answer has one; otherwise a list of dicts. The deviation is that of a
        normal distribution with the same interval: right for Gaussian noise, and for Laplace noise
        a little too large in the middle and too small in the tails.
        """
        import uncertainties

        z = statistics.NormalDist().inv_cdf((1 + self.confidence) / 2)

        def of(r: int, i: int) -> Any:
            error = self.error_at(r, i)
            return self.rows[r][i] if error is None else uncertainties.ufloat(float(self.rows[r][i]), error / z)

        if len(self.rows) == 1 and len(self.columns) == 1:
            return of(0, 0)
        return [{name: of(r, i) for i, name in enumerate(self.names)} for r in range(len(self.rows))]

    def _groups(self) -> tuple[list[int], list[int]]:
        """The key columns, and those that a chart can show; empty if there is nothing to draw."""
        keys = [i for i, c in enumerate(self.columns) if not c.noisy]
        shown = [i for i, c in enumerate(self.columns) if c.noisy and c.kind in _NUMBERS]
        return (keys, shown) if keys and shown and len(self.rows) > 1 else ([], [])

    def label(self, row: int) -> str:
        """The keys that a row is about."""
        keys = [i for i, c in enumerate(self.columns) if not c.noisy]
        return ", ".join(show(self.rows[row][i]) for i in keys)

    def plot(self, column: str | None = None, ax: Any = None) -> Any:
        """Draws a noisy column with its intervals, by groups, with matplotlib; returns the axes."""
        import matplotlib.pyplot as plt

        _, shown = self._groups()
        if not shown:
            raise ValueError("the answer has no groups to draw; GROUP BY something")
        names = [self.names[k] for k in shown]
        if column is not None and column not in names:
            raise ValueError(f"{column} cannot be drawn; choose from {', '.join(names)}")
        i = shown[names.index(column) if column is not None else 0]
        ax = ax if ax is not None else plt.subplots(figsize=(6, 0.9 + 0.32 * len(self.rows)), layout="constrained")[1]
        known = [r for r in range(len(self.rows)) if self.rows[r][i] is not None]
        values = [float(self.rows[r][i]) for r in known]
        errors = [self.error_at(r, i) or 0.0 for r in known]
        ax.errorbar(values, range(len(known)), xerr=errors, fmt="o", capsize=3, color="#3b6ea8", ecolor="#8fb0d4", markersize=5)
        ax.set_yticks(range(len(known)), [self.label(r) for r in known], parse_math=False)  # $5 to $10 is no formula
        ax.invert_yaxis()
        ax.set_xlabel(f"{clean(self.names[i])} (bars: {100 * self.confidence:.4g} %)", parse_math=False)
        ax.grid(axis="x", alpha=0.25)
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return ax

    def _repr_html_(self) -> str:
        from ._html import answer

        return answer(self)


@dataclass(repr=False, kw_only=True)
class Answer(Noisy):
    """The question, and what it cost."""

    price: Price
    remaining: Remaining
    more: int | None
    receipt: Receipt
    data_version: int
    made_up: bool = False

    @property
    def free(self) -> bool:
        """True if it cost nothing."""
        return self.made_up or not self.price

    def _words(self) -> list[str]:
        if self.made_up:
            return [*super()._words(), f"on the data this would cost at most {self.price}"]
        return [*super()._words(), f"price: {'free, already paid for' if self.free else self.price}; left: {self.remaining}"]

    def _receipts(self) -> str:
        return str(self.receipt)

    def _attributes(self) -> dict[Any, Any]:
        made_up = {"made_up": True} if self.made_up else {}
        return {"price": self.price, "receipt": self.receipt, **made_up, **super()._attributes()}


def unique(name: str, taken: dict[str, Any]) -> str:
    """A name that no other column has: SQL allows two of the same name."""
    out, n = name, 2
    while out in taken:
        out, n = f"{name}_{n}", n + 1
    return out


def pair(value: Any, error: float | None, kind: str = "real") -> tuple[str, str]:
    """A value and its error for people: unless it must be whole, two digits of the error, and as many of the value."""
    if kind not in ("decimal", "real") or not isinstance(value, (int, float)) or error is None or not 1e-9 < error < 1e5 or abs(value) > 1e15:
        return show(value), show(error)
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:,.{digits}f}" if abs(value) >= 1e5 else f"{value:.{digits}f}", f"{error:.{digits}f}"


def show(value: Any) -> str:
    """A value for people."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.5g}" if abs(value) < 1e5 else f"{value:,.0f}"
    return clean(str(value))


def _native(value: Any, kind: str) -> Any:
    if not isinstance(value, str):
        return value
    try:
        if kind == "date":
            return datetime.date.fromisoformat(value)
        if kind == "timestamp":
            return datetime.datetime.fromisoformat(value.replace("T", " "))
    except ValueError:
        pass
    return value


def read(body: bytes, request: str) -> Answer:
    """Reads an answer that was sent row by row, and refuses one that was cut off."""
    try:
        return _read(body)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise Error(
            "what arrived is not an answer, or only a part of one",
            kind="connection",
            suggestion=f"ask again with request={request!r}, which is not charged twice",
            request=request,
        ) from error


def _read(body: bytes) -> Answer:
    lines = [json.loads(line) for line in body.splitlines() if line]
    if len(lines) < 2 or lines[-1]["end"]["rows"] != len(lines) - 2:
        raise ValueError
    meta: dict[str, Any] = lines[0]["meta"]
    known = all("errors" in line for line in lines[1:-1])
    return Answer(
        **table(meta["columns"], [line["row"] for line in lines[1:-1]], [line["errors"] for line in lines[1:-1]] if known else None),
        price=Price.of(meta["cost"]),
        remaining=Remaining.of(meta["remaining"]),
        more=meta.get("more"),
        receipt=Receipt.of(meta["receipt"]),
        confidence=float(meta["confidence"]),
        notes=list(meta["notes"]) + limit_words(meta.get("limits") or {}),
        whole=_whole([line.get("whole") for line in lines[1:-1]]),
        data_version=meta["data_version"]["number"],
        made_up=meta.get("made_up", False),
        raw=meta,
    )


def limit_words(limits: dict[str, Any]) -> list[str]:
    """What an answer leaves out, where its limits cut people who have more."""
    if not limits.get("cut"):
        return []
    rows, groups = (f"{n} {what}{'' if n == 1 else 's'}" for n, what in [(limits["max_rows"], "row"), (limits["max_groups"], "group")])
    return [f"one person counts with at most {rows} in each of at most {groups}; the errors leave out the bias of this limit"]


def _whole(lines: list[list[dict[str, float] | None] | None]) -> list[tuple[tuple[float, float] | None, ...]] | None:
    if not any(lines):
        return None
    return [tuple((r["low"], r["high"]) if r else None for r in line or []) for line in lines]


def table(columns: list[dict[str, Any]], rows: list[list[Any]], errors: list[list[float | None]] | None) -> dict[str, Any]:
    """Columns, rows and errors as Python values."""
    named = [Column(c["name"], c["kind"], c["noisy"], c["approximate"]) for c in columns]
    if not all(e is None or isinstance(e, (int, float)) for line in errors or [] for e in line):
        raise TypeError("an error bar must be a number")
    return {
        "columns": named,
        "rows": [tuple(_native(v, c.kind) for v, c in zip(row, named, strict=True)) for row in rows],
        "errors": None if errors is None else [tuple(line) for line in errors],
    }
