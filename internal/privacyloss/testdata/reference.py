"""Writes reference.json: delta(epsilon) of sums of losses, and ln M(z), from their
definitions (direct sums, convolutions and integrals) to 40 digits with mpmath.

    python reference.py > reference.json
"""
import json
import random

from mpmath import mp, mpf, mpc, exp, log, expm1, log1p, sqrt, erfc, quad, binomial, pi, inf, sinh

mp.dps = 40
rng = random.Random(1)


def tail(x):
    return erfc(x / sqrt(2)) / 2


class Atoms:
    """A law that is atoms only: a list of (loss, mass), and the mass at infinity."""

    def __init__(self, atoms, never=mpf(0)):
        self.atoms, self.never = atoms, never

    def delta(self, e):
        return self.never + sum(m * -expm1(e - l) for l, m in self.atoms if l > e)

    def mean(self, f, e):
        return self.never + sum(m * f(e - l) for l, m in self.atoms)

    def moment(self, z):
        return sum(m * exp(z * l) for l, m in self.atoms)


class Density:
    """A law given by noise: loss(x), mass(x) on pieces, atoms, and delta in closed form."""

    def __init__(self, loss, mass, cuts, atoms, delta, back, kinks=()):
        self.loss, self.mass, self.cuts, self.atoms = loss, mass, cuts, atoms
        self.delta, self.back = delta, back
        self.kinks = list(kinks) or [l for l, _ in atoms]  # where delta is not smooth

    def mean(self, f, e, breaks=()):
        cuts = sorted(set(self.cuts) | {x for b in breaks for x in self.back(e - b) if self.cuts[0] < x < self.cuts[-1]})
        return quad(lambda x: self.mass(x) * f(e - self.loss(x)), cuts) + sum(m * f(e - l) for l, m in self.atoms)

    def moment(self, z):
        return quad(lambda x: self.mass(x) * exp(z * self.loss(x)), self.cuts) + sum(m * exp(z * l) for l, m in self.atoms)


def response(e, d=0):
    e, d = mpf(e), mpf(d)
    return Atoms([(e, (1 - d) / (1 + exp(-e))), (-e, (1 - d) / (1 + exp(e)))], d)


def laplace(e):
    e = mpf(e)

    def delta(x):
        return mpf(0) if x >= e else -expm1(x) if x <= -e else -expm1((x - e) / 2)
    n = max(2, int(e * 2))
    return Density(lambda x: e * (1 - 2 * x), lambda x: e / 2 * exp(-e * x), [mpf(i) / n for i in range(n + 1)],
                   [(e, mpf(1) / 2), (-e, exp(-e) / 2)], delta, lambda l: [(1 - l / e) / 2])


def exponential(e):
    e = mpf(e)
    norm = 4 * sinh(e / 2)  # the integral of exp(l/2) over [-e, e]

    def delta(x):
        return mpf(0) if x >= e else -expm1(x) if x <= -e else expm1((x - e) / 2) ** 2 / -expm1(-e)
    n = max(2, int(e * 2))
    return Density(lambda x: x, lambda x: exp(x / 2) / norm, [-e + 2 * e * i / n for i in range(n + 1)], [], delta, lambda l: [l], [-e, e])


def discrete_laplace(scale, steps):
    a = 1 / mpf(scale)
    q = exp(-a)
    atoms = [(a * steps, 1 / (1 + q)), (-a * steps, q ** steps / (1 + q))]
    atoms += [(a * (steps - 2 * k), (1 - q) / (1 + q) * q ** k) for k in range(1, steps)]
    return Atoms(atoms)


def discrete_gaussian(variance, steps, times=1):
    s2, d = mpf(variance), steps
    reach = int(sqrt(s2) * 21) + 2
    p = {k: exp(-mpf(k) ** 2 / (2 * s2)) for k in range(-reach, reach + 1)}
    norm = sum(p.values())
    p = {k: v / norm for k, v in p.items()}
    total = {0: mpf(1)}
    for _ in range(times):
        new = {}
        for a, x in total.items():
            for b, y in p.items():
                new[a + b] = new.get(a + b, 0) + x * y
        total = new
    return Atoms([((times * d * d - 2 * k * d) / (2 * s2), m) for k, m in total.items()])


def gaussian(mu):
    mu = mpf(mu)

    def delta(x):
        return tail(x / mu - mu / 2) - exp(x) * tail(x / mu + mu / 2)
    # x is the normal number, the loss mu x + mu^2/2.
    return Density(lambda x: mu * x + mu * mu / 2, lambda x: exp(-x * x / 2) / sqrt(2 * pi), [mpf(i) for i in range(-15, 16)], [],
                   delta, lambda l: [(l - mu * mu / 2) / mu])


def sampled(kind, parameter, rate, direction):
    v, q = mpf(parameter), mpf(rate)
    if kind == "gaussian":
        def place(s):
            return log(s) / v + v / 2
        zero, one = tail, lambda x: tail(x - v)
        cuts = [mpf(i) / (1 + int(v / 2)) for i in range(-16 * (1 + int(v / 2)), (int(v) + 16) * (1 + int(v / 2)) + 1)]
        ratio = lambda x: exp(v * (x - v / 2))
        density = lambda x: exp(-x * x / 2) / sqrt(2 * pi)
        sides, least, most = [], mpf(0), inf
    else:
        def place(s):
            return (log(s) / v + 1) / 2
        zero = lambda x: exp(-v * x) / 2
        one = lambda x: 1 - exp(-v * (1 - x)) / 2
        n = max(2, int(v * 2))
        cuts = [mpf(i) / n for i in range(n + 1)]
        ratio = lambda x: exp(v * (2 * x - 1))
        density = lambda x: v / 2 * exp(-v * x)
        least, most = exp(-v), exp(v)
        sides = [(least, mpf(1) / 2), (most, exp(-v) / 2)]
    mix = lambda s: 1 - q + q * s
    if direction == "remove":
        loss = lambda x: log(mix(ratio(x)))
        mass = lambda x: density(x) * mix(ratio(x))
        atoms = [(log(mix(s)), m * mix(s)) for s, m in sides]

        def delta(e):
            s = (expm1(e) + q) / q
            if s <= least:
                return -expm1(e)
            if s >= most:
                return mpf(0)
            x = place(s)
            return (1 - q) * zero(x) + q * one(x) - exp(e) * zero(x)
        back = lambda l: [place((expm1(l) + q) / q)] if expm1(l) + q > 0 else []
    else:
        loss = lambda x: -log(mix(ratio(x)))
        mass = density
        atoms = [(-log(mix(s)), m) for s, m in sides]

        def delta(e):
            s = (expm1(-e) + q) / q
            if s >= most:
                return -expm1(e)
            if s <= least:
                return mpf(0)
            x = place(s)
            z, o = (tail(-x), tail(v - x)) if kind == "gaussian" else (1 - zero(x), 1 - one(x))
            return z - exp(e) * ((1 - q) * z + q * o)
        back = lambda l: [place((expm1(-l) + q) / q)] if expm1(-l) + q > 0 else []
    return Density(loss, mass, cuts, atoms, delta, back)


def law(spec):
    kind, *p = spec
    return {"response": response, "laplace": laplace, "exponential": exponential, "gaussian": gaussian,
            "discreteLaplace": discrete_laplace, "discreteGaussian": discrete_gaussian}[kind](*p) if kind != "sampled" else sampled(*p)


def kov(e, d, k, eps):
    """Kairouz, Oh, Viswanath 2015, Theorem 3.3."""
    e, d, eps = mpf(e), mpf(d), mpf(eps)
    mp.dps = 60
    s, low = mpf(0), -k * log1p(exp(e))
    c = mpf(1)  # binomial(k, j)
    for j in range(k + 1):
        a, b = (k - j) * e, eps + j * e
        if a <= b:
            break
        s += c * exp(a + low) * -expm1(b - a)
        c = c * (k - j) / (j + 1)
    mp.dps = 40
    never = 1 - (1 - d) ** k if d else mpf(0)
    return never + (1 - never) * s


def enumerate_responses(es, eps):
    total = [(mpf(0), mpf(1))]
    for e in es:
        r = response(e)
        total = [(l + x, m * y) for l, m in total for x, y in r.atoms]
    return Atoms(total).delta(mpf(eps))


def power(atoms, k, eps):
    total = {mpf(0): mpf(1)}
    for _ in range(k):
        new = {}
        for l, m in total.items():
            for x, y in atoms.atoms:
                new[l + x] = new.get(l + x, 0) + m * y
        total = new
    return Atoms(list(total.items())).delta(mpf(eps))


deltas = []


def add(terms, eps, value):
    deltas.append({"terms": terms, "epsilon": float(eps), "delta": mp.nstr(value, 25)})


for e in [1e-9, 0.01, 0.1, 1, 5, 50, 700]:
    for k in [1, 2, 3, 10, 100, 1000, 10000]:
        if k > 1000 and e > 1:
            continue
        for part in [0.0, 1 / k, 0.5, 0.9, 4 / k ** 0.5, 7 / k ** 0.5]:
            eps = float(part * k * e)
            if part <= 1:
                d = rng.choice([0, 0, 1e-9, 0.01])
                add([[["response", e, d], k]], eps, kov(e, d, k, eps))
for _ in range(12):
    es = [round(rng.uniform(0.05, 1.5), 3) for _ in range(rng.randint(2, 7))]
    eps = rng.uniform(0, 0.95) * sum(es)
    add([[["response", e, 0], 1] for e in es], eps, enumerate_responses(es, eps))
add([[["response", e, 0], 1] for e in [0.1, 0.2, 0.3]], 0.537796170502, enumerate_responses([0.1, 0.2, 0.3], 0.537796170502))
for mu in [0.001, 0.1, 1, 5]:
    for k in [1, 40, 10000]:
        for x in [0, 0.5, 3, 6, 12]:
            m = mpf(mu) * sqrt(k)
            eps = float(max(0, m * m / 2 + m * (x - 1)))
            add([[["gaussian", mu], k]], eps, gaussian(m).delta(mpf(eps)))
for scale, steps in [(10, 1), (3, 4), (0.5, 2), (20, 5), (0.05, 1), (2.5, 3)]:
    for k in [1, 2, 4]:
        for part in [0, 0.3, 0.5, 0.93]:
            eps = part * k * steps / scale
            add([[["discreteLaplace", scale, steps], k]], eps, power(discrete_laplace(scale, steps), k, eps))
for variance, steps in [(0.01, 1), (0.3, 1), (0.9, 3), (1, 1), (4, 1), (16, 5), (100, 2)]:
    for k in [1, 2, 4]:
        a = discrete_gaussian(variance, steps, k)
        mu = steps * (k / variance) ** 0.5
        for x in [0.0, 0.5, 2.0, 5.0, 8.0]:
            eps = max(0.0, mu * mu / 2 + mu * (x - 1))
            add([[["discreteGaussian", variance, steps], k]], eps, a.delta(mpf(eps)))
    # Epsilon on the lattice of losses, unless the loss at epsilon, times its rounding,
    # exceeds all that are above it.
    if variance > 0.1:
        add([[["discreteGaussian", variance, steps], 2]], 3 * steps / variance, discrete_gaussian(variance, steps, 2).delta(mpf(3 * steps / variance)))

pairs = [
    (["laplace", 0.5], ["laplace", 0.5]), (["laplace", 2], ["laplace", 2]), (["laplace", 0.001], ["laplace", 0.001]), (["laplace", 0.3], ["laplace", 1]),
    (["exponential", 1], ["exponential", 1]), (["exponential", 0.2], ["laplace", 0.7]),
    (["gaussian", 0.7], ["laplace", 1]), (["gaussian", 0.3], ["exponential", 1]),
    (["laplace", 1], ["response", 0.4, 0]), (["gaussian", 1], ["response", 0.4, 0]),
    (["laplace", 1], ["discreteLaplace", 2, 3]), (["gaussian", 0.5], ["discreteGaussian", 4, 1]),
    (["sampled", "gaussian", 1, 0.01, "remove"],) * 2, (["sampled", "gaussian", 2, 0.2, "remove"],) * 2,
    (["sampled", "gaussian", 2, 0.2, "add"],) * 2, (["sampled", "gaussian", 0.5, 0.999999, "remove"],) * 2,
    (["sampled", "gaussian", 0.5, 0.9, "add"],) * 2, (["sampled", "gaussian", 1, 1e-6, "remove"],) * 2,
    (["sampled", "gaussian", 10, 0.01, "remove"],) * 2, (["sampled", "gaussian", 0.01, 0.1, "remove"],) * 2,
    (["sampled", "laplace", 2, 0.2, "remove"],) * 2, (["sampled", "laplace", 2, 0.2, "add"],) * 2,
    (["sampled", "laplace", 0.1, 0.01, "remove"],) * 2, (["sampled", "laplace", 10, 0.999, "add"],) * 2,
    (["sampled", "gaussian", 1, 0.1, "remove"], ["laplace", 0.5]),
    (["sampled", "gaussian", 1, 0.1, "add"], ["gaussian", 0.5]),
    (["sampled", "laplace", 1, 0.1, "remove"], ["gaussian", 0.5]),
    (["sampled", "laplace", 1, 0.1, "remove"], ["laplace", 0.5]),
    (["sampled", "gaussian", 1, 0.1, "remove"], ["sampled", "gaussian", 0.7, 0.3, "remove"]),
    (["sampled", "laplace", 1, 0.1, "remove"], ["sampled", "laplace", 2, 0.3, "remove"]),
    (["sampled", "gaussian", 1, 0.1, "remove"], ["sampled", "laplace", 2, 0.3, "remove"]),
    (["sampled", "gaussian", 1, 0.1, "remove"], ["response", 0.3, 1e-6]),
]


def top(spec):
    kind, *p = spec
    if kind == "gaussian":
        return 4 * p[0]
    if kind == "discreteGaussian":
        return 4 * p[1] / p[0] ** 0.5
    if kind == "discreteLaplace":
        return p[1] / p[0]
    if kind == "sampled":
        base, v, q, direction = p
        if direction == "add":
            return float(-log1p(mpf(q) * (-1 if base == "gaussian" else expm1(-v))))
        return float(log1p(q * expm1(v if base == "laplace" else 4 * v)))
    return p[0]


mp.dps = 20
for a, b in pairs:
    one, two = law(a), law(b)
    if isinstance(one, Atoms):
        one, two = two, one
    breaks = [] if isinstance(two, Atoms) else two.kinks
    specs = [[a, 2]] if a == b else [[a, 1], [b, 1]]
    for part in [0.0, 0.1, 0.5, 0.83]:
        eps = part * (top(a) + top(b))
        if isinstance(two, Atoms):
            value = two.mean(one.delta, mpf(eps))
        else:
            value = one.mean(two.delta, mpf(eps), breaks)
        add(specs, eps, value)

# Three times, by integrating the two-fold curve.
mp.dps = 15
for spec, parts in [(["laplace", 1], [0.1, 0.6]), (["exponential", 1], [0.3]), (["sampled", "laplace", 1, 0.2, "remove"], [0.15])]:
    one = law(spec)
    for part in parts:
        eps = part * 3 * top(spec)
        breaks = one.kinks
        twice = lambda e: one.mean(one.delta, e, breaks)
        sums = {x + y for x in breaks for y in breaks}
        add([[spec, 3]], eps, one.mean(twice, mpf(eps), sorted(sums)))
        deltas[-1]["digits"] = 9
mp.dps = 40

single = [["sampled", "gaussian", 1, 0.8, "remove"], ["sampled", "gaussian", 1, 0.8, "add"], ["sampled", "gaussian", 10, 0.01, "remove"],
          ["sampled", "gaussian", 0.01, 0.5, "remove"], ["sampled", "gaussian", 0.01, 1e-6, "add"], ["sampled", "gaussian", 0.3, 0.999999, "add"],
          ["sampled", "laplace", 2, 0.2, "remove"], ["sampled", "laplace", 2, 0.2, "add"], ["sampled", "laplace", 1e-6, 0.3, "add"],
          ["sampled", "laplace", 50, 0.999999, "add"], ["sampled", "laplace", 50, 1e-6, "remove"], ["laplace", 1e-9], ["laplace", 50], ["exponential", 3], ["exponential", 1e-9]]
mp.dps = 60
for spec in single:
    for part in [0.0, 1e-3, 0.2, 0.7, 0.999, 1.1, 3, 8]:
        eps = part * top(spec)
        add([[spec, 1]], eps, law(spec).delta(mpf(eps)))

mp.dps = 150
moments = []
for spec in [["laplace", 1e-9], ["laplace", 0.1], ["laplace", 3], ["laplace", 50], ["exponential", 1e-9], ["exponential", 0.3], ["exponential", 20],
             ["response", 0.1, 0.01], ["response", 30, 0], ["response", 1e-9, 0], ["discreteLaplace", 10, 1], ["discreteLaplace", 7, 5],
             ["discreteLaplace", 0.1, 3], ["discreteLaplace", 1e6, 4], ["discreteGaussian", 0.01, 1], ["discreteGaussian", 0.3, 3],
             ["discreteGaussian", 0.99, 1], ["discreteGaussian", 1, 1], ["discreteGaussian", 1.5, 2], ["discreteGaussian", 30, 3]]:
    one = law(spec)
    scale = 1 / top(spec)
    for _ in range(8):
        t = float(scale * 10 ** rng.uniform(-2, 1.3))
        if spec[0] == "discreteGaussian":
            t = rng.choice([0.5, 1.5, rng.uniform(0, 3)]) / spec[2]
        y = rng.choice([0.0, float(scale * 10 ** rng.uniform(-2, 4)), float(scale * 10 ** rng.uniform(-2, 1))])
        if spec[0].startswith("discrete") and rng.random() < 0.3:
            # Where the sign changes: half a period, and odd multiples.
            period = 2 * pi * spec[1] / spec[2] if spec[0] == "discreteGaussian" else pi * spec[1]
            y = float(period * rng.choice([0.5, 1, 1.5, 3]))
        z = mpc(t, y)
        if spec[0] in ("laplace", "exponential"):
            # In closed form, by integrating exp((z + 1/2) l) over the losses.
            e = mpf(spec[1])
            inner = 2 * sinh((z + mpf(1) / 2) * e) / (z + mpf(1) / 2)
            if spec[0] == "laplace":
                value = exp(z * e) / 2 + exp(-(z + 1) * e) / 2 + exp(-e / 2) / 4 * inner
            else:
                value = inner / 2 / (4 * sinh(e / 2)) * 2
        elif spec[0] == "discreteGaussian":
            s2, d = mpf(spec[1]), spec[2]
            centre = int(-t * d)
            reach = int(sqrt(s2) * 21) + 4
            norm = sum(exp(-mpf(k) ** 2 / (2 * s2)) for k in range(-reach, reach + 1))
            value = sum(exp(-mpf(k) ** 2 / (2 * s2) + z * (d * d - 2 * k * d) / (2 * s2)) for k in range(centre - reach, centre + reach + 1)) / norm
        else:
            value = one.moment(z)
        l = log(value)
        moments.append({"law": spec, "t": t, "y": y, "re": mp.nstr(l.real, 25), "im": mp.nstr(l.imag, 25)})

print("{\n\"deltas\": [\n" + ",\n".join(json.dumps(d) for d in deltas) + "\n],\n\"moments\": [\n" + ",\n".join(json.dumps(m) for m in moments) + "\n]\n}")
