"""Noise, releases and accounting over the binary."""

from __future__ import annotations

import math
import struct
import time
from fractions import Fraction
from typing import Any

import pytest

from discreet import InvalidError, account, noise


def moments(values: list[int]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, sum((v - mean) ** 2 for v in values) / len(values)


def test_draws() -> None:
    n = 200_000
    q = math.exp(-1 / 10)
    for values, mean, variance in (
        (noise.laplace(10, n), 0.0, 2 * q / (1 - q) ** 2),
        (noise.gaussian(4, n), 0.0, 16.0),
        (noise.geometric(10, n), q / (1 - q), q / (1 - q) ** 2),
    ):
        seen_mean, seen_variance = moments([int(v) for v in values])
        assert seen_mean == pytest.approx(mean, abs=6 * math.sqrt(variance / n))
        assert seen_variance == pytest.approx(variance, rel=0.05)
    assert isinstance(noise.laplace("0.5"), int) and len(noise.laplace(1, 0)) == 0
    with pytest.raises(InvalidError, match="scale"):
        noise.laplace(0)


def test_draws_are_independent() -> None:
    """Two calls, and two processors in one call, have randomness of their own."""
    one, two = list(noise.laplace(1000, 50_000)), list(noise.laplace(1000, 50_000))
    for a, b in ((one, two), (one[:25_000], one[25_000:])):
        assert sum(x == y for x, y in zip(a, b, strict=True)) < 200  # about one in 4,000 by chance


def test_numpy_shapes() -> None:
    np = pytest.importorskip("numpy")
    drawn = noise.gaussian(2, (3, 4))
    assert drawn.shape == (3, 4) and drawn.dtype == np.int64 and drawn.flags.writeable
    released = noise.Laplace(1).release(np.arange(6).reshape(2, 3))
    assert released.values.shape == (2, 3)
    with pytest.raises(TypeError, match="whole numbers"):
        noise.Laplace(1).release([0.5])
    assert noise.Laplace(1).release(np.arange(6, dtype=np.uint8)).values.shape == (6,)


def test_numbers_beyond_64_bits_are_the_nearest() -> None:
    """An error would tell one of them."""
    np = pytest.importorskip("numpy")
    for values in ([2**70, -(2**70)], np.array([2**70, -(2**70)], dtype=object)):
        most, least = noise.Laplace(1).release(values).values.tolist()
        assert most > 2**62 and least < -(2**62)
    assert noise.Laplace(1).release(np.array([2**64 - 1], dtype=np.uint64)).values[0] > 2**62
    assert noise.Laplace(1).release(2**70).values > 2**62


def test_numbers_of_numpy() -> None:
    """The square of a whole number of numpy is cut off where its bits end: noise of 12 in the place of 20."""
    np = pytest.importorskip("numpy")
    for sigma in (np.uint8(20), np.int16(300), np.int32(70_000), np.int64(5_000_000_000), Fraction(np.int32(70_000)), np.array(300, np.int16)):
        drawn = noise.gaussian(sigma, 20_000)
        assert drawn.std() == pytest.approx(float(sigma), rel=0.05)
        released = noise.Gaussian(rho=0.5, sensitivity=sigma).release([0] * 20_000)
        assert released.values.std() == pytest.approx(float(sigma), rel=0.05)
    assert noise.Laplace(np.float64(0.5), np.int64(2)).release(np.int64(5)).price.epsilon == 0.5
    assert noise.laplace(np.float32(2.5), np.int64(5)).shape == (5,)


def test_nothing_below_zero() -> None:
    for sigma in (0, -1, -0.5, "-1/3"):
        with pytest.raises(InvalidError, match="above 0"):
            noise.gaussian(sigma)
        with pytest.raises(InvalidError, match="above 0"):
            noise.Gaussian(rho=1, sensitivity=sigma).release(1)
    for size in (-1, (-1, -5)):
        with pytest.raises(InvalidError, match="size"):
            noise.laplace(1, size)


def test_releases() -> None:
    released = noise.Laplace(0.5, sensitivity=3).release([1000] * 50_000)
    mean, variance = moments([int(v) for v in released.values])
    assert mean == pytest.approx(1000, abs=0.3) and variance == pytest.approx(72, rel=0.1)
    assert released.price.epsilon == 0.5 and released.error == 18
    one = noise.Gaussian(rho=0.02, sensitivity=2).release(7)
    assert isinstance(one.values, int) and one.price.rho == 0.02 and one.error == 20


class Single:
    """A number of 32 bits, as numpy has it."""

    class dtype:
        itemsize = 4

    def __init__(self, value: float) -> None:
        (self.value,) = struct.unpack("f", struct.pack("f", value))

    def item(self) -> float:
        return float(self.value)


def test_roots_are_roots() -> None:
    """math.sqrt(2) is a float above the root of 2, and math.sqrt(3) one below that of 3: both are what is meant."""
    for square in [*range(1, 3000), 10**9 + 7, 2**40 - 1]:
        assert noise._whole_square(math.sqrt(square)) == square
        assert noise._whole_square(3 * math.sqrt(square)) == 9 * square
    for square in (2**50 + 3, 2**60 + 1, 10**20 + 1, 2**100 + 1):  # which no float tells from others
        assert square <= noise._whole_square(math.sqrt(square)) <= square * (1 + 2**-46)
    # A whole float may be the root of more than its square, from 2**25.5 on; below 2**24 it is what it says.
    assert noise._whole_square(53 * math.sqrt(1603162578989)) >= 53**2 * 1603162578989 > 67106510**2
    assert noise._whole_square(float(2**24 - 1)) == (2**24 - 1) ** 2
    for square in (2, 3, 5, 2**24 + 3, 2**24 + 7, 2**30 + 1):
        single: Any = Single(math.sqrt(square))
        whole = noise._whole_square(single)
        assert whole == square if square < 100 else square <= whole <= square * (1 + 2**-17)
    np = pytest.importorskip("numpy")
    assert noise._whole_square(np.sqrt(np.float32(2**24 + 7))) >= 2**24 + 7
    assert noise._whole_square(np.sqrt(np.float64(2))) == 2 and noise._whole_square(np.sqrt(np.float64(3))) == 3
    # Everything else is rounded up.
    for sensitivity, square in ((1, 1), (2.0, 4), (1.5, 3), (1.4143, 3), (1.001, 2), (0.3, 1), ("1.5", 3), (Fraction(7, 5), 2), (10**12, 10**24)):
        assert noise._whole_square(sensitivity) == square
    exact = noise.Gaussian(rho=0.02, sensitivity=math.sqrt(2)).release(7)
    assert exact.error == noise.Gaussian(rho=0.01).release(7).error


def test_a_million_at_once() -> None:
    noise.laplace(1)
    begun = time.perf_counter()
    assert len(noise.laplace(10, 1_000_000)) == 1_000_000
    took = time.perf_counter() - begun
    print(f"a million draws: {1e3 * took:.0f} ms")
    assert took < 5  # machines are busy; docs/benchmarks.md has the figures


def test_accounting() -> None:
    composed = account.compose("laplace:epsilon=0.1", 100, delta=1e-6)
    assert composed.tightest == "pld" and float(composed) == pytest.approx(4.69267, abs=1e-4)
    assert composed.results["basic"][1] == pytest.approx(10) and "gaussian" in composed.skipped
    assert account.compose(["gaussian:sigma=4,times=40", "pure:epsilon=0.1"], epsilon=10).asked == "delta"
    found = account.calibrate("gaussian", 40, epsilon=1, delta=1e-6)
    assert found.parameter == "sigma" and found.value == pytest.approx(26.7192, abs=1e-3)
    assert account.compose(f"gaussian:sigma={found.value}", 40, delta=1e-6).upper <= 1 + 1e-9
    with pytest.raises(InvalidError):
        account.compose("cauchy:epsilon=1", delta=1e-6)
    with pytest.raises(ValueError, match="give delta"):
        account.compose("pure:epsilon=1")
