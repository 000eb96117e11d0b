"""Exact noise: discrete distributions, drawn without any rounding by the binary.

``laplace``, ``gaussian`` and ``geometric`` draw numbers; :class:`Laplace` and :class:`Gaussian` are
mechanisms, which are calibrated to a sensitivity and a price and add noise to whole numbers. Arrays
are numpy's where that is installed.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import _bench
from ._errors import InvalidError
from ._values import Number, Price, exactly, fraction, plain

__all__ = ["Gaussian", "Laplace", "Released", "gaussian", "geometric", "laplace"]


def _draw(kind: str, parameter: Any, size: int | tuple[int, ...] | None) -> Any:
    sizes = () if size is None else size if isinstance(size, (tuple, list)) else (size,)
    shape = tuple(operator.index(n) for n in sizes)
    if any(n < 0 for n in shape):
        raise InvalidError(f"an array cannot have the size {size}", kind="invalid", spent=False)
    _, numbers = _bench.call("/noise", {"kind": kind, "parameter": str(parameter), "count": math.prod(shape)})
    out = _bench.integers(numbers)
    if shape == ():
        return int(out[0])
    return out.reshape(shape) if hasattr(out, "reshape") else out


def _squared(what: str, value: Number) -> Fraction:
    """The square of a number above 0: a negative one is a mistake that its square would hide."""
    exact = fraction(value)
    if exact <= 0:
        raise InvalidError(f"{what} must be above 0, not {value}", kind="invalid", spent=False)
    return exact**2


def _whole_square(sensitivity: Number) -> int:
    """The square of a sensitivity as a whole number, never below the true one.

    What moves by whole numbers moves by the root of a whole number, so that of any bound of the
    square the whole part would do; what is between two whole numbers is rounded up all the same. A
    float may stand for a number that has no end, such as ``math.sqrt(2)`` for the root of 2: the true
    square is then within some roundings (sixteen of its precision) of the one that it has. If that is
    a whole number or just above one, it is that; and of a range that has several, it is the largest.
    So a float from 2**24 on has a larger square than it says, and one of 32 bits from 725 on: name a
    large whole number as an ``int``.
    """
    square = _squared("the sensitivity", sensitivity)
    if not isinstance(plain(sensitivity), float):
        return math.ceil(square)
    bits = {2: 11, 4: 24}.get(getattr(getattr(sensitivity, "dtype", None), "itemsize", 8), 53)
    off = square / (1 << (bits - 5))
    return max(math.ceil(square - off), math.floor(square + off))


def laplace(scale: Number, size: int | tuple[int, ...] | None = None) -> Any:
    """Draws of the discrete Laplace distribution: P(k) ~ exp(-\\|k\\|/scale)."""
    return _draw("laplace", fraction(scale), size)


def gaussian(sigma: Number, size: int | tuple[int, ...] | None = None) -> Any:
    """Draws of the discrete Gaussian distribution: P(k) ~ exp(-k²/(2 sigma²))."""
    return _draw("gaussian", _squared("sigma", sigma), size)


def geometric(scale: Number, size: int | tuple[int, ...] | None = None) -> Any:
    """Draws of the geometric distribution: P(k) ~ exp(-k/scale) for k from 0 on. By itself it is not private."""
    return _draw("geometric", fraction(scale), size)


@dataclass(frozen=True)
class Released:
    """Numbers with noise: ``values``, ``error`` of each with the probability ``confidence``, and the ``price`` of all."""

    values: Any
    error: int
    confidence: float
    price: Price


def _release(kind: str, sensitivity: int, price: Number, values: Any, confidence: float) -> Released:
    numbers, count, shape = _bench.from_integers(values)
    asked = {"kind": kind, "sensitivity": str(sensitivity), "price": exactly(price), "beta": 1 - confidence, "count": count}
    said, noisy = _bench.call("/release", asked, numbers)
    out = _bench.integers(noisy)
    if shape == ():
        out = int(out[0])
    elif hasattr(out, "reshape"):
        out = out.reshape(shape)
    return Released(out, said["error"], confidence, Price.of(said["cost"]))


@dataclass(frozen=True)
class Laplace:
    """Laplace noise for a pure epsilon.

    ``sensitivity`` is how far one person moves all numbers together (the sum of the distances). It
    is yours to prove.
    """

    epsilon: Number
    sensitivity: int = 1

    def release(self, values: Any, *, confidence: float = 0.95) -> Released:
        """Adds noise to whole numbers. The price is for all of them together."""
        return _release("laplace", self.sensitivity, self.epsilon, values, confidence)


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise for a rho of zero-concentrated differential privacy.

    ``sensitivity`` is how far one person moves all numbers together (the root of the sum of the
    squares). Its square is rounded up to a whole number; ``math.sqrt(2)`` is the root of 2.
    """

    rho: Number
    sensitivity: Number = 1

    def release(self, values: Any, *, confidence: float = 0.95) -> Released:
        """Adds noise to whole numbers. The price is for all of them together."""
        return _release("gaussian", _whole_square(self.sensitivity), self.rho, values, confidence)
