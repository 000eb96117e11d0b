"""Writes reference.json: normal tails and the Gaussian delta curve to 17 digits.

Every argument is a float64, taken exactly; every value is computed at 400 bits and
more, by integrals and error functions of mpmath, and not by the methods of the package.
Run it with Python 3 and mpmath: python reference.py > reference.json
"""

import json
import random

from mpmath import mp, mpf, erfc, exp, log, sqrt, pi, findroot, nstr

mp.prec = 500
random.seed(20200)


def text(x):
    return nstr(x, 25, min_fixed=0, max_fixed=0)


def tail(x):
    return erfc(x / sqrt(mpf(2))) / 2


def density(x):
    return exp(-x * x / 2) / sqrt(2 * pi)


def delta(mu, eps):
    # The two terms agree in up to 150 digits for the points below.
    mu, eps = mpf(mu), mpf(eps)
    a, b = eps / mu - mu / 2, eps / mu + mu / 2
    with mp.workprec(4000):
        return tail(a) - exp(eps) * tail(b)


def tails():
    xs = [0.0, 1e-9, 0.5, 0.999999, 1.0, 1.0000001, 1.5, 2.0, 3.0, 5.0, 8.0, 8.5, 15.0, 25.0, 37.0, 37.5]
    xs += [-x for x in xs if 0 < x <= 8]
    xs += [random.uniform(-8, 37.5) for _ in range(60)] + [random.uniform(0.9, 4) for _ in range(40)]
    for x in xs:
        t = tail(mpf(x))
        yield {"x": x, "tail": text(t), "log": text(log(t)), "mills": text(t / density(mpf(x)))}
    for x in [40.0, 100.0, 1e3, 1e6]:
        with mp.workprec(2000):
            t = tail(mpf(x))
            yield {"x": x, "tail": None, "log": text(log(t)), "mills": text(t / density(mpf(x)))}


def quantiles():
    ps = [0.5, 0.499999999, 0.4, 0.3, 0.25, 0.2499, 0.1, 0.01, 1e-5, 1e-10, 1e-50, 1e-100, 1e-300, 0.6, 0.9, 0.999]
    ps += [10 ** random.uniform(-300, -0.4) for _ in range(40)]
    for p in ps:
        if p == 0.5:
            yield {"p": p, "x": "0"}
            continue
        q = min(mpf(p), 1 - mpf(p))
        start = sqrt(-2 * log(q)) * mpf("0.9") if q < 0.1 else (mpf(1) / 2 - q) * mpf("2.7")
        x = findroot(lambda x: log(tail(x)) - log(q), start, tol=1e-60)
        yield {"p": p, "x": text(x if p < 0.5 else -x)}


def deltas():
    mus = [1e-6, 1e-5, 1e-3, 0.01, 0.1, 0.25, 0.5, 0.9, 1.0, 1.0001, 1.5, 2.0, 5.0, 10.0, 50.0, 300.0, 1e3]
    for mu in mus:
        for a in [-20.0, -5.0, -1.0, -0.1, 0.0, 0.3, 0.9, 1.0, 1.1, 2.0, 4.0, 8.0, 15.0, 25.0, 36.5]:
            eps = mu * (a + mu / 2)
            if eps >= 0:
                yield mu, eps
        yield mu, 0.0
        yield mu, mu * mu / 2
    for _ in range(150):
        mu = 10 ** random.uniform(-6, 3)
        a = random.uniform(-3, 36.5)
        eps = mu * (a + mu / 2)
        if eps >= 0:
            yield mu, eps


json.dump(
    {
        "tail": list(tails()),
        "quantile": list(quantiles()),
        "delta": [{"mu": m, "epsilon": e, "delta": text(delta(m, e))} for m, e in deltas()],
    },
    __import__("sys").stdout,
    indent=1,
)
