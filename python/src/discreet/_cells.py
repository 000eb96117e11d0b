"""Rows of one's own as numbers, cell by cell.

Nothing here fails or warns because of what is in a cell, and what becomes of a cell depends on that
cell and on what was declared: one odd row must neither show in what a training says, nor change
other rows. So what a list or an array becomes where something else stands in it (texts, floats,
complex numbers, objects) makes no difference.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_TRUTHS = {"true": "1", "false": "0"}


def number(value: Any) -> float:
    """A number, whatever is there: anything else counts as missing, and a number that is too large as infinite."""
    if not isinstance(value, (numbers.Number, np.number, np.bool_, str, bytes)):
        return math.nan
    try:
        if isinstance(value, (complex, np.complexfloating)):
            return float(value.real) if value.imag == 0 else math.nan
        return float(_TRUTHS.get(value.lower(), value) if isinstance(value, str) else value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except Exception:
        return math.nan


def _day(value: Any) -> float:
    """Days since 1970-01-01."""
    try:
        if isinstance(value, (str, datetime.datetime)):
            value = datetime.datetime.fromisoformat(value).date() if isinstance(value, str) else value.date()
        if isinstance(value, datetime.date):
            return float((value - datetime.date(1970, 1, 1)).days)
    except Exception:
        return math.nan
    return number(value)


def text(value: Any) -> str:
    """How a value is written as one of a category or class: a date without a time, and true and false as in SQL."""
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (complex, np.complexfloating)) and value.imag == 0:
        value = value.real
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)


def _loose(written: str) -> str:
    """One text for all the ways that a value can be written: 1 and 1.0, true and True and 1."""
    written = _TRUTHS.get(written.lower(), written)
    try:
        found = float(written)
    except ValueError:
        return written
    return str(int(found)) if written == repr(found) and found.is_integer() else written


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value)


def places(values: Sequence[str], cells: Any) -> Any:
    """Which of the values each cell is: -1 if it is none of them, and NaN if it is missing."""
    exact = {v: float(i) for i, v in enumerate(values)}
    loose: dict[str, float] = {}
    for v, i in exact.items():
        loose.setdefault(_loose(v), i)
    seen: dict[tuple[type, Any], float] = {}

    def place(value: Any) -> float:
        try:
            if _is_missing(value):
                return math.nan
            found = seen.get((type(value), value))
            if found is None:
                written = text(value)
                found = seen[type(value), value] = exact.get(written, loose.get(_loose(written), -1.0))
            return found
        except Exception:  # nothing that is in a cell fails
            return -1.0

    return np.array([place(v) for v in _objects(cells)], dtype=np.float64)


def present(cells: Any) -> list[Any]:
    """The cells that are not missing, with whole numbers as such: next to a missing one they are floats."""

    def is_present(value: Any) -> bool:
        try:
            return not _is_missing(value)
        except Exception:  # neither equal to itself nor different, as pandas.NA
            return False

    found = [v for v in _objects(cells) if is_present(v)]
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in found]


def _array(values: Any) -> Any:
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)


def _objects(values: Any) -> list[Any]:
    given = _array(values)
    if given.dtype.kind == "M":
        given = given.astype("datetime64[us]").astype(object)
    return list(given.tolist())


def floats(values: Any) -> Any:
    """Each cell as a number."""
    given = _array(values)
    with np.errstate(all="ignore"):
        if given.dtype.kind in "biuf":
            return given.astype(np.float64)
        if given.dtype.kind == "c":
            return np.where(given.imag == 0, given.real, math.nan).astype(np.float64)
        if given.dtype.kind in "Mm":
            return np.full(given.shape, math.nan)
        return np.array([number(v) for v in given.tolist()], dtype=np.float64)


def column(declared: Mapping[str, Any], cells: Any) -> Any:
    """A column of a table as numbers: the places of values, days, or numbers in their own units."""
    if "values" in declared:
        return places(declared["values"], cells)
    given = _array(cells)
    if declared.get("kind") == "date" and given.dtype.kind not in "biuf":
        return np.array([_day(v) for v in _objects(given)], dtype=np.float64)
    return floats(given)


def is_list(X: Any) -> bool:
    """Whether rows are in a list, which has no width of its own."""
    return isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind == "O")


def listed(X: Any, width: int) -> Any:
    """A list of rows as an array. In a row of another width everything is missing."""
    out = np.full((len(X), width), None, dtype=object)
    for i, row in enumerate(X):
        try:
            found = list(row)
        except Exception:
            continue
        if len(found) == width:
            for j, cell in enumerate(found):
                out[i, j] = cell
    return out


def array(X: Any) -> Any:
    """Rows as an array of two dimensions."""
    if hasattr(X, "toarray"):
        raise TypeError("X is sparse, but must be a frame or an array: write X.toarray()")
    given = np.asarray(X)
    if given.ndim != 2:
        raise ValueError(
            "X must be an array of two dimensions, rows and features. Reshape your data: X.reshape(-1, 1) is one feature, and "
            "X.reshape(1, -1) one row"
        )
    return given


def target(y: Any) -> Any:
    """The cells of a target, one for each row."""
    if isinstance(y, (list, tuple)):
        out = np.empty(len(y), dtype=object)
        for i, value in enumerate(y):
            out[i] = value
        return out
    return _array(y)
