"""The binary without data: noise, accounting, and training on rows that it is sent."""

from __future__ import annotations

import array
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ._process import Attached
from ._transport import Transport

_benches: dict[int, Transport] = {}


def _transport() -> Transport:
    """The one of this process, started when first needed; a fork starts its own."""
    found = _benches.get(os.getpid())
    return found or _benches.setdefault(os.getpid(), Transport(Attached([]).endpoint, name="workbench"))


def _json(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a parameter cannot be of the type {type(value).__name__}")


def call(
    path: str, line: Mapping[str, Any], numbers: bytes | memoryview = b"", *, sql: str | None = None, request: str | None = None
) -> tuple[dict[str, Any], memoryview]:
    """Sends a line followed by numbers, and returns a line and numbers."""
    body = json.dumps(line, allow_nan=False, default=_json).encode() + b"\n" + numbers
    answer = _transport().send("POST", path, body, {"Content-Type": "application/octet-stream"}, sql=sql, request=request)
    end = answer.body.index(b"\n") + 1
    found: dict[str, Any] = json.loads(answer.body[:end])
    return found, memoryview(answer.body)[end:]


def numpy() -> Any:
    """numpy, or None if it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def integers(numbers: memoryview) -> Any:
    """Whole numbers as a numpy array, or one of the standard library if numpy is not installed."""
    np = numpy()
    if np is not None:
        return np.frombuffer(numbers, dtype="<i8").astype(np.int64)
    out = array.array("q", numbers.tobytes())
    if sys.byteorder == "big":
        out.byteswap()
    return out


_LEAST, _MOST = -(2**63), 2**63 - 1


def _saturated(values: Sequence[int]) -> list[int]:
    return [max(_LEAST, min(_MOST, v)) for v in values]


def from_integers(values: Sequence[int] | Any) -> tuple[bytes, int, tuple[int, ...]]:
    """Whole numbers as bytes, how many there are, and their shape.

    Those that do not fit in 64 bits are the nearest that do, which moves no two apart: an error would tell one of them.
    """
    np = numpy()
    if np is not None:
        given = np.asarray(values)
        if given.dtype.kind == "O" and all(isinstance(v, int) for v in given.flat):
            given = np.array(_saturated(given.ravel().tolist()), dtype=np.int64).reshape(given.shape)
        if given.size and given.dtype.kind not in "iu":
            raise TypeError("noise is added to whole numbers: round to steps that you choose, and count the sensitivity in the same steps")
        exact = (np.minimum(given.astype(np.uint64), _MOST) if given.dtype.kind == "u" else given).astype("<i8")
        return exact.tobytes(), int(exact.size), tuple(exact.shape)
    out = array.array("q", _saturated([values] if isinstance(values, int) else values))
    if sys.byteorder == "big":
        out.byteswap()
    return out.tobytes(), len(out), () if isinstance(values, int) else (len(out),)
