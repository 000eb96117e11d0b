"""Writes golden.json: what utility is compared with, from first principles, with mpmath.

Run: python golden.py > golden.json (mpmath 1.3). Nothing here shares a formula with the Go
code where there is another way: quantiles are roots of tails, laws on the integers are sums
of their terms, permute-and-flip goes through all orders, noisy max is integrated.
"""
import itertools
import json

from mpmath import (binomial, erfc, exp, expm1, findroot, inf, log, log1p, mp, mpf, nstr, quad, sqrt)

mp.dps = 50


def show(x):
    return nstr(x, 20)


def laplace():
    for scale in (0.1, 1, 7.5, 1e6):
        for beta in (1e-300, 1e-12, 0.05, 0.5, 0.999, 1 - 2.0**-40):
            yield dict(scale=scale, beta=beta, alpha=show(-mpf(scale) * log(mpf(beta))))


def gaussian():
    for beta in (1e-270, 1e-100, 1e-20, 1e-9, 1e-3, 0.05, 0.3, 0.49, 0.5, 0.51, 0.9, 1 - 2.0**-30):
        b = mpf(beta)
        # The tail 2 Q(z) = erfc(z/sqrt 2).
        start = sqrt(-2 * log(b)) if b < 0.3 else (1 - b) * mpf("1.2533")
        f = (lambda z: log(erfc(z / sqrt(2)) / b)) if b < 0.5 else (lambda z: erfc(z / sqrt(2)) - b)
        for sigma in (0.25, 3):
            yield dict(sigma=sigma, beta=beta, alpha=show(sigma * findroot(f, start)))


def each():
    for k in (1, 2, 10, 100000):
        for beta in (1e-15, 0.05, 0.9):
            yield dict(k=k, beta=beta, each=show(-expm1(log1p(-mpf(beta)) / k)))


def smallest(tail, beta):
    """The smallest k with tail(k) <= beta, by galloping and bisection."""
    if tail(0) <= beta:
        return 0
    low, high = 0, 1
    while tail(high) > beta:
        low, high = high, 2 * high
    while high - low > 1:
        mid = (low + high) // 2
        low, high = (low, mid) if tail(mid) <= beta else (mid, high)
    return high


BETAS = (1e-100, 1e-12, 1e-6, 0.01, 0.05, 0.3, 0.8)


def discrete_laplace():
    for scale in (0.05, 0.5, 1, 10, 12345.678, 2.0**30):
        q = exp(-1 / mpf(scale))
        # The variance is sum 2 k^2 q^k (1-q)/(1+q) = 2q/(1-q)^2.
        for beta in BETAS:
            k = smallest(lambda k: 2 * q ** (k + 1) / (1 + q), mpf(beta))
            yield dict(scale=scale, beta=beta, alpha=k, variance=show(2 * q / (1 - q) ** 2))


def discrete_gaussian():
    for sigma2 in (0.01, 0.25, 1, 4, 30.5, 1000.0, 4000.0, 250000.0):
        s2 = mpf(sigma2)
        mp.dps = 30 if sigma2 > 1000 else 50
        last = int(25 * sqrt(s2)) + 40
        w = [exp(-mpf(k) ** 2 / (2 * s2)) for k in range(last + 1)]
        z = 1 + 2 * sum(w[1:])
        variance = 2 * sum(k * k * w[k] for k in range(1, last + 1)) / z
        tails, sum_ = [mpf(0)] * (last + 1), mpf(0)
        for k in range(last, 0, -1):
            sum_ += w[k]
            tails[k - 1] = 2 * sum_ / z
        for beta in BETAS:
            k = next(k for k in range(last) if tails[k] <= mpf(beta))
            yield dict(sigma2=sigma2, beta=beta, alpha=k, variance=show(variance))
    mp.dps = 50
    # Wide ones: Euler and Maclaurin to fourth order, with an error below 1e-20.
    for sigma2 in (2.0**26, 2.0**60):
        s = sqrt(mpf(sigma2))
        for beta in BETAS:
            def tail(k):
                a = (k + mpf(1) / 2) / s
                e = exp(-a * a / 2)
                main = s * sqrt(mp.pi / 2) * erfc(a / sqrt(2)) - a * e / s / 24
                third = -(a**3 - 3 * a) * e / s**3
                return 2 * (main - 7 * third / 5760) / (s * sqrt(2 * mp.pi))
            yield dict(sigma2=sigma2, beta=beta, alpha=smallest(tail, mpf(beta)), variance=show(mpf(sigma2)))


def randomized_response():
    for n, ones, eps in ((1, 0, 1.0), (10, 3, 1.0), (20, 10, 0.5), (50, 50, 2.0), (101, 20, 0.1), (200, 77, 1.0986122886681098)):
        e = mpf(eps)
        q = 1 / (1 + exp(e))
        law = {}
        bin_ = lambda n: [binomial(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
        for u, pu in enumerate(bin_(n - ones)):
            for v, pv in enumerate(bin_(ones)):
                law[u - v] = law.get(u - v, mpf(0)) + pu * pv
        two_g = (1 - 2 * q)
        # The answers' sum is ones + U - V; the estimate is (sum/n - q)/(1 - 2q).
        errors = [(abs(((ones + d) / mpf(n) - q) / two_g - mpf(ones) / n), p) for d, p in law.items()]
        var = sum(p * x * x for x, p in errors)
        for beta in (1e-6, 0.05, 0.4):
            best = None
            for alpha in sorted(x for x, _ in errors):
                if sum(p for x, p in errors if x > alpha * (1 + mpf(10) ** -40)) <= mpf(beta):
                    best = alpha
                    break
            yield dict(people=n, ones=ones, epsilon=eps, beta=beta, alpha=show(best), variance=show(var))


SCORES = (
    ([500, 400, 60, 40], 0.1, 1, False),
    ([2, 0], 1, 1, False),
    ([2, 0], 1, 1, True),
    ([0, 0, 0], 3, 1, False),
    ([1, 2.5, 2.5, -7, 0.125], 1.5, 2, False),
    ([3], 1, 1, False),
    ([0, -3, -8, -100], 2, 1, True),
)


def flip(p):
    out = [mpf(0)] * len(p)
    for order in itertools.permutations(range(len(p))):
        stay = mpf(1)
        for i in order:
            out[i] += stay * p[i]
            stay *= 1 - p[i]
    return [x / mp.factorial(len(p)) for x in out]


def noisy_max(s):
    F = lambda x: exp(x) / 2 if x < 0 else 1 - exp(-x) / 2
    f = lambda x: exp(-abs(x)) / 2
    out = []
    cuts = sorted(set(s))
    points = [-inf] + cuts + [c for c in (cuts[-1] + d for d in (2, 8, 30))] + [inf]
    for lo, hi in zip(cuts, cuts[1:]):
        points += [lo + (hi - lo) * mpf(t) / 16 for t in range(1, 16)]
    points = sorted(set(points))
    for i in range(len(s)):
        def g(x):
            # quad's tolerance is absolute, so the integrand is scaled to about 1.
            y = f(x - s[i]) * exp(-s[i])
            for j in range(len(s)):
                if j != i:
                    y *= F(x - s[j])
            return y
        out.append(quad(g, points) * exp(s[i]))
    return out


def selection():
    for scores, eps, d, monotone in SCORES:
        width = mpf(d) / mpf(eps) * (1 if monotone else 2)
        best = max(scores)
        scaled = [(mpf(x) - best) / width for x in scores]
        w = [exp(x) for x in scaled]
        laws = dict(exponential=[x / sum(w) for x in w], permute_and_flip=flip(w))
        mp.dps = 30
        laws["noisy_max"] = noisy_max(scaled)
        mp.dps = 50
        out = dict(scores=scores, epsilon=eps, sensitivity=d, monotone=monotone)
        for name, law in laws.items():
            assert abs(sum(law) - 1) < mpf(10) ** -18, (name, scores, sum(law))
            alphas = []
            for beta in (1e-9, 0.01, 0.2, 0.4):
                alphas.append(min(best - s for s in scores if sum(p for x, p in zip(scores, law) if x < s) <= beta))
            out[name] = dict(probabilities=[show(p) for p in law], alphas=alphas,
                             error=show(sum(p * (best - x) for p, x in zip(law, scores))))
        yield out


print(json.dumps({f.__name__: list(f()) for f in
                  (laplace, gaussian, each, discrete_laplace, discrete_gaussian, randomized_response, selection)}, indent=1))
