"""The questions of benchmarks/peers by OpenDP."""
import json
import math
import sys
from importlib.metadata import version

import opendp.prelude as dp

dp.enable_features("contrib")
SYSTEM = f"OpenDP {version('opendp')}"


def main(facts):
    times, people = facts["times"], len(facts["ages"])
    rho = facts["rho"]
    out = thresholded("keys-laplace", facts, dp.l01inf_distance, dp.m.make_laplace_threshold, lambda x: math.exp(-x),
                      lambda b, d: b[0] <= 1 and b[1] <= d, 1e-6)
    out += thresholded("keys-gaussian", facts, dp.l02inf_distance, dp.m.make_gaussian_threshold, lambda x: math.exp(-x * x / 2),
                       lambda b, d: b[0] <= rho and b[1] <= d, facts["rho_delta"])
    out.append(noisy("count", [people], [people], 1, 1, 10 * times))
    regions = list(facts["regions"].values())
    out.append(noisy("regions", regions, regions, facts["rows_of_a_customer"], 1, 2 * times))
    # Cents, so that everything is whole; a customer adds max_sum to each of the priorities.
    persons = facts["sums_by_person"].values()
    cents = [[round(100 * x) for x in p] for p in persons]
    most = round(100 * facts["max_sum"])
    sums = noisy("sums", [sum(c) for c in cents], [sum(min(x, most) for x in c) for c in cents], len(cents) * most, 1, 2 * times)
    sums["errors"] = [e / 100 for e in sums["errors"]]
    out.append(sums)
    for row, column, upper in (("mean-age", "ages", 100), ("mean-salary", "salaries", facts["salary"])):
        values = facts[column]
        # Somebody who is replaced moves the sum by the width of the bounds; how many there are is public.
        mean = noisy(row, [sum(values)], [sum(values)], upper, 1, 10 * times)
        mean["errors"] = [e / len(values) for e in mean["errors"]]
        out.append(mean)
    ladder = noisy("ladder", [people], [people], 1, 0.4, 10 * times)
    ladder["price"] = 0.1 + 0.2 + 0.4
    out.append(ladder)
    json.dump(out, sys.stdout)


def noisy(row, truths, clamped, sensitivity, epsilon, times):
    """Laplace noise on whole numbers, with the least scale that is worth epsilon."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    scale = dp.binary_search_param(lambda s: dp.m.make_laplace(*space, scale=s), d_in=sensitivity, d_out=float(epsilon), T=float)
    release = dp.m.make_laplace(*space, scale=scale)
    errors = [n - t for _ in range(times) for n, t in zip(release(clamped), truths)]
    return {"row": row, "system": SYSTEM, "errors": errors}


def thresholded(row, facts, distance, make, law, within, delta):
    """
    Counts that are shown where they are large enough, one key a person: with the least threshold that keeps delta, and with
    the least that its own map takes. The two differ: a count that equals the threshold is shown, and the map of 0.16.0 has
    the probability of a count above it (Laplace), or that of a continuous normal number (Gaussian).
    """
    space = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)), distance(dp.absolute_distance(T=int))
    person = (1, 1, 1)
    scale = least(lambda s: within(make(*space, scale=s, threshold=10**6).map(person), 1), 0.1, 100.0)
    real = [tail(law, scale, threshold - 1) for threshold in range(1, 1000)]
    kept = 1 + next(i for i, d in enumerate(real) if d <= delta)
    mapped = next(t for t in range(1, 1000) if fits(lambda: within(make(*space, scale=scale, threshold=t).map(person), delta)))
    return [released(row, facts, make(*space, scale=scale, threshold=t), f"{SYSTEM}, threshold {t}, delta {real[t - 1]:.3g}{why}")
            for t, why in ((kept, ""), (mapped, " (its map)"))]


def tail(law, scale, least):
    """The probability that noise is at least so much. law has the weight of a whole number, up to a factor."""
    reach = range(1, 50 * math.ceil(scale) + least)
    return sum(law(z / scale) for z in reach if z >= least) / (1 + 2 * sum(law(z / scale) for z in reach)) if least > 0 else 1


def released(row, facts, release, system):
    shown, errors = [], []
    for _ in range(2 + facts["times"] // 30):
        answer = release(facts["keys"])
        shown.append(len(answer))
        errors += [n - facts["keys"].get(k, 0) for k, n in answer.items()]
    return {"row": row, "system": system, "shown": shown, "errors": errors}


def fits(asked):
    """Whether asked says yes; thresholds too small for any delta are an error there."""
    try:
        return asked()
    except dp.OpenDPException:
        return False


def least(good, low, high):
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(lambda: good(middle)) else (middle, high)
    return high


if __name__ == "__main__":
    main(json.load(open(sys.argv[1])))
