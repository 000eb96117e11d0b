"""What mechanisms cost together, and how much noise a budget needs, by every accountant there is.

Mechanisms are texts: ``laplace:epsilon=0.1``, ``gaussian:sigma=4``, ``gaussian:rho=0.02``,
``discrete-laplace:scale=10``, ``discrete-gaussian:sigma2=16``, ``randomized-response:epsilon=1``,
``exponential:epsilon=0.1``, ``pure:epsilon=0.1``, ``approx:epsilon=0.1,delta=1e-9``; with
``sensitivity=``, ``sample=`` and ``times=`` where they apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _bench

__all__ = ["Calibrated", "Composed", "calibrate", "compose"]


@dataclass(frozen=True)
class Composed:
    """What the accountants say: ``upper`` is the smallest guarantee, by the accountant ``tightest``.

    ``results`` has for each a pair that encloses the value of its theorem; where that is one formula both are the upper end.
    """

    asked: str
    lower: float
    upper: float
    tightest: str
    results: dict[str, tuple[float, float]]
    skipped: dict[str, str]
    raw: dict[str, Any] = field(repr=False, compare=False)

    def __float__(self) -> float:
        return self.upper


@dataclass(frozen=True)
class Calibrated:
    """The least noise that keeps a budget: ``value`` of ``parameter`` (sigma, scale, sigma2 or epsilon)."""

    parameter: str
    value: float
    error95: float | None
    raw: dict[str, Any] = field(repr=False, compare=False)

    def __float__(self) -> float:
        return self.value


def _listed(mechanisms: str | Sequence[str], times: int) -> list[str]:
    if not isinstance(mechanisms, str):
        if times != 1:
            raise ValueError("with several mechanisms, write times= in each one, as in laplace:epsilon=0.1,times=100")
        return list(mechanisms)
    return [mechanisms + ("" if times == 1 else ("," if ":" in mechanisms else ":") + f"times={times}")]


def compose(
    mechanisms: str | Sequence[str],
    times: int = 1,
    *,
    delta: float | None = None,
    epsilon: float | None = None,
    direction: str = "both",
) -> Composed:
    """What mechanisms cost together: the epsilon at a ``delta``, or the delta at an ``epsilon``."""
    if (delta is None) == (epsilon is None):
        raise ValueError("give delta to compute epsilon, or epsilon to compute delta")
    asked = {"mechanisms": _listed(mechanisms, times), "delta": delta, "epsilon": epsilon, "direction": direction}
    said, _ = _bench.call("/compose", asked)
    results = {r["method"]: (r["lower"], r["upper"]) for r in said["results"]}
    lower, upper = results[said["tightest"]]
    skipped = {s["method"]: s["reason"] for s in said.get("skipped", [])}
    return Composed("delta" if delta is None else "epsilon", lower, upper, said["tightest"], results, skipped, said)


def calibrate(
    mechanisms: str | Sequence[str], times: int = 1, *, epsilon: float, delta: float, direction: str = "both"
) -> Calibrated:
    """The least noise, the same for all mechanisms that leave theirs open, with which together they keep a budget."""
    asked = {"mechanisms": _listed(mechanisms, times), "delta": delta, "epsilon": epsilon, "direction": direction}
    said, _ = _bench.call("/calibrate", asked)
    return Calibrated(said["parameter"], said["value"], said.get("error95"), said)
