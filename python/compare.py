"""Measures exact noise and private training beside other packages, on made-up rows.

    python compare.py noise             a million draws: this package, and numpy and opendp where they are installed
    python compare.py train             the estimator, or diffprivlib's where only that is installed
    python compare.py ask               what ask takes beside the same request, sent and read by http.client alone

diffprivlib needs an older scikit-learn than the estimators do, so it has an environment of its own; the rows are the same.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def has(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def best(draw: Callable[[], Any], times: int = 5) -> float:
    """The shortest of some times, in milliseconds: others use the machine too."""
    out = []
    for _ in range(times):
        begun = time.perf_counter()
        draw()
        out.append(1e3 * (time.perf_counter() - begun))
    return min(out)


def noise(n: int = 1_000_000) -> None:
    ways: dict[str, Callable[[], Any]] = {"numpy, laplace (floating point)": lambda: np.random.default_rng().laplace(0, 10, n)}
    if has("discreet"):
        from discreet import noise as exact

        ways["discreet, laplace"] = lambda: exact.laplace(10, n)
        ways["discreet, gaussian"] = lambda: exact.gaussian(10, n)
    if has("opendp"):
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        add = dp.m.make_laplace(*space, scale=10.0)
        space2 = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
        add2 = dp.m.make_gaussian(*space2, scale=10.0)
        zeros = [0] * n
        ways["opendp, laplace"], ways["opendp, gaussian"] = lambda: add(zeros), lambda: add2(zeros)
    for name, draw in ways.items():
        print(f"{name}: {best(draw, 3):.0f} ms")


def rows(n: int = 50_000) -> tuple[Any, Any]:
    draw = np.random.default_rng(7)
    X = draw.uniform(-1, 1, (n, 20))
    w = draw.normal(size=20)
    return X, (X @ w + draw.logistic(size=n) > 0).astype(int)


def train() -> None:
    X, y = rows()
    half = len(X) // 2
    for epsilon in (0.1, 0.5, 1.0):
        errors, times = [], []
        for _ in range(5):
            begun = time.perf_counter()
            if has("diffprivlib"):
                from diffprivlib.models import LogisticRegression

                # A row of 20 numbers from -1 to 1 is at most sqrt(20) long.
                model: Any = LogisticRegression(epsilon=epsilon, data_norm=20**0.5, max_iter=1000).fit(X[:half], y[:half])
            else:
                from discreet.sklearn import DiscreetClassifier

                model = DiscreetClassifier(epsilon, classes=[0, 1]).fit(X[:half], y[:half], bounds=(-1, 1))
            times.append(time.perf_counter() - begun)
            errors.append((model.predict(X[half:]) != y[half:]).mean())
        who = "diffprivlib" if has("diffprivlib") else "discreet"
        print(f"{who}, epsilon {epsilon}: {np.mean(errors):.4f} ± {np.std(errors):.4f} of test rows wrong, {min(times):.2f} s")


def ask(times: int = 1000) -> None:
    """An answer that was paid for, by turns: with ask, and as bare bytes over a connection that stays open too."""
    import statistics
    import tempfile
    from pathlib import Path

    import discreet
    from discreet import _transport

    with tempfile.TemporaryDirectory() as folder:
        data, policy = Path(folder, "people.csv"), Path(folder, "people.yaml")
        data.write_text("pid,age\n" + "".join(f"{i},{20 + i % 60}\n" for i in range(2000)))
        policy.write_text(
            "datasets:\n  people:\n    engine: duckdb\n    source: people.csv\n    unit: people.pid\n    budget: {epsilon: 1}\n"
            "    analysts: {ana: {share: 1}}\n    tables: {people: {unique: pid, columns: {age: {type: integer, bounds: [0, 110]}}}}\n"
        )
        with discreet.connect(policy) as db:
            sql = "SELECT COUNT(*), AVG(age) FROM people"
            db.ask(sql, epsilon=0.1)
            bare = _transport._connect(db._transport.endpoint(), None, None)
            headers = {
                "Authorization": "Bearer " + db._transport.endpoint().token,
                "Content-Type": "application/json",
                "Accept": "application/x-ndjson",
            }
            taken: dict[str, list[float]] = {"ask": [], "bare": []}
            for n in range(times):
                begun = time.perf_counter()
                body = f'{{"sql": "{sql}", "epsilon": "0.1", "request": "bare-{n}"}}'
                bare.request("POST", "/v1/query", body, headers)
                assert b'"end"' in bare.getresponse().read()
                between = time.perf_counter()
                db.ask(sql, epsilon=0.1)
                taken["ask"].append(1e3 * (time.perf_counter() - between))
                taken["bare"].append(1e3 * (between - begun))
            ours, theirs = (statistics.median(taken[who]) for who in ("ask", "bare"))
            print(f"median of {times}: ask {ours:.3f} ms, bare {theirs:.3f} ms; ask adds {ours - theirs:.3f} ms")


if __name__ == "__main__":
    {"noise": noise, "train": train, "ask": ask}[sys.argv[1]]()
