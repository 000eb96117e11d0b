"""Writes reference.json: values of every conversion and composition to 40 digits.

Every argument is a float64, taken exactly. The values are computed from the definitions at
60 digits and more, by sums, roots and integrals of mpmath, and not by the methods of the package.
Run it with Python 3 and mpmath: python reference.py > reference.json
"""

import json
import random
import sys
from itertools import product

from mpmath import binomial, cosh, erfc, exp, expm1, findroot, inf, log, mp, mpf, nstr, pi, quad, sinh, sqrt, tanh

mp.dps = 60
random.seed(2015)
points = []


def point(name, args, want):
    points.append({"f": name, "in": args, "want": nstr(want, 40, min_fixed=0, max_fixed=0)})


def spread(low, high, n):
    return [float(10 ** random.uniform(low, high)) for _ in range(n)]


def tail(x):
    return erfc(x / sqrt(mpf(2))) / 2


def bisect(f, low, high, digits=40):
    """The root of an increasing function."""
    low, high = mpf(low), mpf(high)
    while high - low > abs(high) * mpf(10) ** -digits:
        mid = (low + high) / 2
        if f(mid) < 0:
            low = mid
        else:
            high = mid
    return (low + high) / 2


# Single claims.


def response_delta(e, d, at):
    e, d, at = mpf(e), mpf(d), mpf(at)
    return 1 - (1 - d) * (1 - max(mpf(0), (exp(e) - exp(at)) / (1 + exp(e))))


def response_epsilon(e, d, delta):
    e, d, delta = mpf(e), mpf(d), mpf(delta)
    x = (delta - d) / (1 - d)
    inside = exp(e) - x * (1 + exp(e))
    return max(mpf(0), log(inside)) if inside > 0 else mpf(0)


def pure_curve(e, a):
    e, a = mpf(e), mpf(a)
    return log((sinh(a * e) - sinh((a - 1) * e)) / sinh(e)) / (a - 1)


def laplace_moment(e, a):
    e, a = mpf(e), mpf(a)
    return a / (2 * a - 1) * exp((a - 1) * e) + (a - 1) / (2 * a - 1) * exp(-a * e)


def laplace_curve(e, a):
    return log(laplace_moment(e, a)) / (mpf(a) - 1)


epsilons = [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 700.0, 1e3] + spread(-6, 3, 20)
for e in epsilons:
    point("pure zcdp", [e], e * tanh(mpf(e) / 2))
    p = 1 / (1 + exp(mpf(e)))
    start = sqrt(2 * log(1 / p)) * 0.9 if e > 3 else mpf(e) * 0.62
    with mp.workdps(500 if e > 100 else 80):
        p = 1 / (1 + exp(mpf(e)))
        point("pure gdp", [e], 2 * findroot(lambda x: log(tail(x)) - log(p), start, tol=1e-70))
    for a in [1 + 1e-9, 1.01, 1.5, 2.0, 10.0, 333.0, 1e6]:
        with mp.workdps(150):
            point("pure rdp", [e, a], pure_curve(e, a))
            point("laplace rdp", [e, a], laplace_curve(e, a))
            point("exponential rdp", [e, a], min(mpf(a) * mpf(e) ** 2 / 8, pure_curve(e, a)))
    for d in [0.0, 1e-15, 1e-6, 0.3]:
        for at in [0.0, e / 3, e * (1 - 1e-9), float(e)]:
            point("approx delta", [e, d, at], response_delta(e, d, at))
        for x in [1e-15, 1e-6, 0.01, 0.5]:
            if x > d:
                point("approx epsilon", [e, d, x], response_epsilon(e, d, x))
for e, d, k in [(0.1, 1e-6, 3), (1.0, 1e-9, 10), (1e-6, 1e-12, 1000), (0.0, 1e-5, 7), (3.0, 1e-15, 4)]:
    e, d = mpf(e), mpf(d)
    point("approx group delta", [float(e), float(d), k], d * sum(exp(i * e) for i in range(k)))


# Concentrated claims.


def zcdp_epsilon(rho, delta):
    rho, delta = mpf(rho), mpf(delta)
    x = bisect(lambda x: rho * exp(2 * x) + log(1 + exp(x)) + log(delta), -400, 400)
    t = exp(x)
    a = 1 + t
    return rho * a + log(t / a) - (log(delta) + log(a)) / t


def zcdp_delta(rho, epsilon):
    rho, epsilon = mpf(rho), mpf(epsilon)
    x = bisect(lambda x: rho * (1 + 2 * exp(x)) - epsilon - log(1 + exp(-x)), -400, 400)
    t = exp(x)
    return exp(t * ((1 + t) * rho - epsilon) + t * log(t / (1 + t)) - log(1 + t))


for rho in [1e-10, 1e-6, 1e-3, 0.1, 0.5, 1.0, 10.0, 1e3] + spread(-8, 3, 12):
    for delta in [1e-15, 1e-9, 1e-6, 0.01, 0.5]:
        e = zcdp_epsilon(rho, delta)
        if e > 0:
            point("zcdp epsilon", [rho, delta], e)
            point("zcdp delta", [rho, float(e)], zcdp_delta(rho, float(e)))
        point("bun steinke", [rho, delta], mpf(rho) + 2 * sqrt(mpf(rho) * log(1 / mpf(delta))))
for rho, d, delta in [(0.1, 1e-9, 1e-6), (1.0, 1e-6, 2e-6), (0.5, 0.1, 0.2), (50.0, 1e-15, 3e-15)]:
    x = (mpf(delta) - mpf(d)) / (1 - mpf(d))
    e = zcdp_epsilon(rho, x)
    point("approx zcdp epsilon", [rho, d, delta], e)
    point("approx zcdp delta", [rho, d, float(e)], mpf(d) + (1 - mpf(d)) * zcdp_delta(rho, float(e)))


def gauss_delta(mu, eps):
    with mp.workdps(400):
        mu, eps = mpf(mu), mpf(eps)
        return tail(eps / mu - mu / 2) - exp(eps) * tail(eps / mu + mu / 2)


for mu in [1e-6, 1e-3, 0.1, 0.25, 0.9, 1.0, 1.1, 3.0, 30.0, 1e3]:
    for delta in [1e-15, 1e-9, 1e-5, 0.01, 0.3]:
        if gauss_delta(mu, 0) > delta:
            low, high = mpf(0), mpf(mu) ** 2 / 2 + 40 * mpf(mu)
            for e in [0.0, mu * mu / 2, mu * mu / 2 + 4 * mu, mu * mu / 2 + 20 * mu]:
                point("gdp delta", [mu, e], gauss_delta(mu, e))
            point("gdp epsilon", [mu, delta], bisect(lambda e: mpf(delta) - gauss_delta(mu, e), low, high, 30))

# Rényi curves on samples.


def gauss_moment(mu, j):
    return exp(mpf(j) * (j - 1) * mpf(mu) ** 2 / 2)


def sample_curve(moment, q, a):
    q = mpf(q)
    return log(sum(binomial(a, j) * (1 - q) ** (a - j) * q**j * moment(j) for j in range(a + 1))) / (a - 1)


for q in [1e-6, 1e-3, 0.01, 0.2, 0.9]:
    for a in [2, 3, 10, 64, 400]:
        for s in [0.01, 0.5, 1.0, 4.0]:
            with mp.workdps(100):
                point("subsampled gaussian rdp", [s, q, a], sample_curve(lambda j: gauss_moment(s, j), q, a))
                point("subsampled laplace rdp", [s, q, a], sample_curve(lambda j: laplace_moment(s, j), q, a))

mp.dps = 20
for q, s, a in [(0.01, 1.0, 1.5), (0.05, 1.0, 2.0), (0.3, 0.7, 5.0), (0.2, 0.5, 2.5), (0.1, 1.0, 7.3), (0.5, 2.0, 1.1)]:
    q, s, a = mpf(q), mpf(s), mpf(a)
    normal = lambda x: exp(-x * x / 2) / sqrt(2 * pi)
    m = quad(lambda x: normal(x) * ((1 - q) + q * exp(s * x - s * s / 2)) ** a, [-inf, -3, 0, 3, 3 + a * s, inf])
    point("subsampled gaussian rdp, at least", [float(s), float(q), float(a)], log(m) / (a - 1))
    m = quad(lambda x: exp(-abs(x)) / 2 * ((1 - q) + q * exp(abs(x) - abs(x - s))) ** a, [-inf, 0, s, inf])
    point("subsampled laplace rdp, at least", [float(s), float(q), float(a)], log(m) / (a - 1))
    # The other direction: a unit is added.
    m = quad(lambda x: normal(x) * ((1 - q) + q * exp(s * x - s * s / 2)) ** (1 - a), [-inf, -3, 0, 3, 3 + a * s, inf])
    point("subsampled gaussian rdp, at least", [float(s), float(q), float(a)], log(m) / (a - 1))
    m = quad(lambda x: exp(-abs(x)) / 2 * ((1 - q) + q * exp(abs(x) - abs(x - s))) ** (1 - a), [-inf, 0, s, inf])
    point("subsampled laplace rdp, at least", [float(s), float(q), float(a)], log(m) / (a - 1))
mp.dps = 60


def rdp_epsilon(curve, delta):
    """The minimum over alpha, by thirds of ln(alpha - 1): the function has one valley."""

    def f(x):
        t = exp(x)
        return curve(1 + t) + log(t / (1 + t)) - (log(mpf(delta)) + log(1 + t)) / t

    low, high = mpf(-20), mpf(30)
    for _ in range(160):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if f(a) < f(b):
            high = b
        else:
            low = a
    return f((low + high) / 2)


for e, k, delta in [(0.1, 10, 1e-6), (0.01, 1000, 1e-9), (1.0, 1, 1e-5), (5.0, 3, 1e-12), (1e-4, 10**6, 1e-6)]:
    point("laplace rdp epsilon", [e, k, delta], rdp_epsilon(lambda a: k * laplace_curve(e, a), delta))

# Composition. Terms are written epsilon, delta, times.


def advanced(terms, rest):
    a = sum(n * mpf(e) * expm1(mpf(e)) for e, _, n in terms)
    v = sum(n * mpf(e) ** 2 for e, _, n in terms)
    return a, v, a + sqrt(2 * log(1 / rest) * v)


def flat(terms):
    return [x for t in terms for x in t]


mixes = [
    [(0.1, 0.0, 100)],
    [(0.00125, 0.0, 10000)],
    [(1e-6, 0.0, 10**6)],
    [(0.01, 1e-9, 1000)],
    [(0.1, 0.0, 1), (0.2, 0.0, 1), (0.3, 0.0, 1)],
    [(0.1, 1e-10, 20), (0.02, 1e-12, 300), (1.0, 0.0, 2)],
    [(20.0, 0.0, 3), (1e-3, 1e-8, 5)],
    [(300.0, 0.0, 2)],
]
for terms in mixes:
    used = sum(n * mpf(d) for _, d, n in terms)
    for delta in [1e-15, 1e-9, 1e-5, 0.01, 0.5]:
        if used < delta:
            a, v, e = advanced(terms, mpf(delta) - used)
            point("advanced epsilon", flat(terms) + [delta], e)
            e = float(e)
            # Where drift is large the float64 epsilon has no digits left for delta.
            if a > 1e4:
                continue
            point("advanced delta", flat(terms) + [e], min(mpf(1), used + exp(-((mpf(e) - a) ** 2) / (2 * v))))
for total, delta, k, d in [(1.0, 1e-6, 100, 0.0), (1.0, 1e-6, 100, 1e-9), (0.1, 1e-9, 10**6, 0.0), (50.0, 0.01, 3, 0.0)]:
    rest = mpf(delta) - k * mpf(d)
    f = lambda e: advanced([(e, d, k)], rest)[2] - mpf(total)
    point("advanced per query", [total, delta, k, d], bisect(f, mpf(10) ** -30, total, 30))


def responses(k, e, j, epsilon):
    """Of k responses with epsilon e and at most j lies: the probability, the same weighted with exp(-loss),
    and the same weighted with 1 - exp(epsilon - loss)."""
    e = mpf(e)
    p = exp(log(binomial(k, j)) + (k - j) * e - k * log(1 + exp(e)))
    a, b, c = mpf(0), mpf(0), mpf(0)
    mode = k / (1 + exp(e))
    while j >= 0:
        a += p
        b += p * exp((2 * j - k) * e)
        c -= p * expm1(epsilon + (2 * j - k) * e)
        # What follows is smaller than a geometric series.
        ratio = j / mpf(k - j + 1) * exp(e)
        if j < mode and p * ratio / (1 - ratio) < a * mpf(10) ** -50:
            break
        p *= ratio
        j -= 1
    return a, b, c


def last_above(k, e, epsilon):
    """The largest number of lies with a loss above epsilon."""
    j = int((k - mpf(epsilon) / mpf(e)) / 2) + 2
    while (k - 2 * j) * mpf(e) <= epsilon:
        j -= 1
    return j


def optimal_points(k, e, d, epsilon):
    keep = (1 - mpf(d)) ** k
    j = last_above(k, e, epsilon)
    a, b, inner = responses(k, e, j, mpf(epsilon))
    delta = 1 - keep * (1 - inner)
    if delta < 1e-290:
        return
    point("optimal delta", [e, d, k, epsilon], delta)
    delta = float(delta)
    if delta >= 0.999:
        return
    # The float64 delta has an epsilon of its own, in this piece or the next.
    x = 1 - (1 - mpf(delta)) / keep
    for i in [j, j - 1, j + 1]:
        a, b, _ = responses(k, e, i, mpf(0))
        if a - x <= a * mpf(10) ** -30:
            continue
        root = log((a - x) / b)
        if (k - 2 * i - 2) * mpf(e) <= root <= (k - 2 * i) * mpf(e):
            if root > 1e-9:
                point("optimal epsilon", [e, d, k, delta], root)
            return
    if d == 0 and e < 10:
        raise ValueError((k, e, d, epsilon))


mp.dps = 90
for k in [1, 2, 3, 10, 100, 1000, 10**5, 10**6]:
    for e in [1e-6, 1e-4, 0.01, 0.1, 1.0, 10.0, 100.0]:
        mean = k * mpf(e) * tanh(mpf(e) / 2)
        deviation = sqrt(mpf(k)) * e / cosh(mpf(e) / 2)
        if k >= 10**5 and e >= 10:
            continue
        for z in [-3, 0, 3, 8, 20, 35]:
            epsilon = float(mean + z * deviation)
            # The sums of this script are slow far from the middle.
            if 0 < epsilon < k * e and (k < 10**5 or z in (0, 3, 8, 35)):
                optimal_points(k, e, 0.0, epsilon)
        if k <= 1000:
            optimal_points(k, e, 0.0, 0.0)
            optimal_points(k, e, 1e-9, float(k * e) * 0.7)
            optimal_points(k, e, 0.0, float(k * e) * (1 - 1e-7 / k))
for k, e, d, epsilon in [(1000, 0.01, 1e-9, 1.2), (10**6, 1e-3, 1e-14, 4.0), (10, 1.0, 0.01, 5.0)]:
    optimal_points(k, e, d, epsilon)


def enumerate_all(terms):
    states = [(mpf(0), mpf(1))]
    for e, _, n in terms:
        e = mpf(e)
        q = 1 / (1 + exp(e))
        law = [((n - 2 * j) * e, binomial(n, j) * q**j * (1 - q) ** (n - j)) for j in range(n + 1)]
        states = [(l + m, p * r) for (l, p), (m, r) in product(states, law)]
    return sorted(states, reverse=True)


mp.dps = 60
for terms in mixes + [[(0.1, 0.0, 5), (0.3, 1e-7, 4), (0.7, 0.0, 3), (1.3, 1e-5, 2)], [(1e-6, 0.0, 30), (1e-3, 0.0, 30)]]:
    if len(terms) < 2 or sum(n for _, _, n in terms) > 100:
        continue
    states = enumerate_all(terms)
    keep = mpf(1)
    for _, d, n in terms:
        keep *= (1 - mpf(d)) ** n
    top = float(states[0][0])
    delta_at = lambda at: 1 - keep * (1 - sum(p * (1 - exp(at - l)) for l, p in states if l > at))
    for part in [0.0, 0.1, 0.3, 0.5, 0.8, 0.99]:
        point("optimal delta", flat(terms) + [top * part], delta_at(mpf(top * part)))
    for delta in [1e-9, 1e-6, 1e-4, 0.01, 0.2]:
        if 1 - keep < delta < delta_at(mpf(0)):
            root = bisect(lambda at: delta - delta_at(at), 0, top, 35)
            point("optimal epsilon", flat(terms) + [delta], root)

# The functions that everything is rounded with. At the first argument Exp on one machine errs by 1.5 units.
for x in [0.3590290294354354, 1e-12, 600.0] + spread(-6, 2.5, 150):
    x = mpf(x)
    point("exp(-x)", [float(x)], exp(-x))
    point("1 - exp(-x)", [float(x)], -expm1(-x))
    point("exp(x) - 1", [float(x)], expm1(x))
    x = mpf(float(exp(-x)))
    if 0 < x < 1:
        point("-ln x", [float(x)], -log(x))
        point("-ln(1 - x)", [float(x)], -mp.log1p(-x))

# Binomial probabilities; 1 - q is a float64.
for n in [3, 20, 1000, 10**6, 10**9]:
    for q in [2.0**-10, 0.25, 0.4375, 0.5, 0.875]:
        for z in [-30, -8, -2, 0, 1, 5, 25]:
            j = int(n * q + z * sqrt(n * q * (1 - q)))
            if 0 <= j <= n:
                l = mp.loggamma(n + 1) - mp.loggamma(j + 1) - mp.loggamma(n - j + 1)
                point("binomial", [n, j, q], -(l + j * log(mpf(q)) + (n - j) * log(1 - mpf(q))))

print("[\n" + ",\n".join(json.dumps(p) for p in points) + "\n]")
