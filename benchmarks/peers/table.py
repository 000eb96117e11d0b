"""Asks Discreet and every peer that is there, and prints one table: errors at equal privacy."""
import argparse
import json
import math
import pathlib
import subprocess
import sys

import data
import ours

ROWS = {
    "keys-laplace": "private keys, Zipf(1.2), a whole (1, 1e-6): keys shown; RMSE",
    "keys-gaussian": "the same at one rho and delta, Gaussian noise",
    "count": "one COUNT for a whole (1, 1e-6): RMSE",
    "regions": "orders by region, through a public table, epsilon 1: RMSE",
    "sums": "sum by priority over items of orders, max_sum, epsilon 1: RMSE",
    "mean-age": "AVG of 2,000 who are replaced, 0 to 100, epsilon 1: RMSE",
    "mean-salary": f"AVG of 2,000 who are replaced, 0 to {data.SALARY:,}, epsilon 1: RMSE",
    "ladder": "a count at 0.1, 0.2, 0.4: epsilon paid; RMSE of the last",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=3000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    facts = data.write(args.folder)
    found = ours.Discreet(args.folder / "bin" / "ask", args.folder, facts, args.times).results()
    gaussian = next(r for r in found if r["row"] == "keys-gaussian")
    cut = [sum(min(x, data.MAX_SUM) for x in p) - sum(p) for p in facts["sums_by_person"].values()]
    facts.update(cut=cut, times=args.times, rows_of_a_customer=data.ROWS_OF_A_CUSTOMER, max_sum=data.MAX_SUM, salary=data.SALARY,
                 rho=gaussian["rho"], rho_delta=gaussian["delta"])
    path = args.folder / "facts.json"
    path.write_text(json.dumps(facts))
    for peer in peers(args.folder):
        done = subprocess.run([*peer, path], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"left out: {pathlib.Path(peer[-1]).name} failed", file=sys.stderr)
            continue
        found += json.loads(done.stdout)
    lines = [line(row, [summary(r) for r in found if r["row"] == row]) for row in ROWS]
    print(json.dumps(lines, indent=1) if args.json else text(lines))


def peers(folder):
    """What is installed: a program of Go, and scripts each with a Python of its own, because peers want each other's other versions."""
    here = pathlib.Path(__file__).parent
    google = folder / "bin" / "google"
    scripts = [[folder / f.stem.removeprefix("with_") / "bin" / "python", f] for f in sorted(here.glob("with_*.py"))]
    return [[google]] * google.exists() + [s for s in scripts if s[0].exists()]


def summary(result):
    """Figures in the place of samples: the root of the mean square, its standard error, how many keys."""
    squares = [e * e for e in result["errors"]]
    n = len(squares)
    mean = sum(squares) / n
    spread = math.sqrt(sum((s - mean) ** 2 for s in squares) / (n - 1) / n)
    out = {"row": result["row"], "system": result["system"], "answers": n, "rmse": math.sqrt(mean), "rmse_se": spread / 2 / math.sqrt(mean)}
    if "shown" in result:
        shown = result["shown"]
        out["shown"] = sum(shown) / len(shown)
        out["shown_se"] = math.sqrt(sum((s - out["shown"]) ** 2 for s in shown) / (len(shown) - 1) / len(shown))
    if "price" in result:
        out["price"] = round(result["price"], 9)
    return out


def line(row, systems):
    """A row: Discreet, and each peer with what Discreet has more of than it."""
    mine, theirs = systems[0], systems[1:]
    for peer in theirs:
        peer["ratios"] = {measure: ratio(measure, mine, peer) for measure in ("shown", "price", "rmse") if measure in mine}
    return {"question": ROWS[row], "discreet": mine, "peers": theirs}


def ratio(measure, mine, peer):
    """Discreet over the peer; of keys, where more is better, the peer over Discreet."""
    above, below = (peer, mine) if measure == "shown" else (mine, peer)
    value = above[measure] / below[measure]
    return {"ratio": value, "se": value * math.hypot(*(x.get(measure + "_se", 0) / x[measure] for x in (above, below)))}


def text(lines):
    cells = [("question", "system", "figures", "ratio")]
    for entry in lines:
        cells.append((entry["question"], "Discreet", figures(entry["discreet"]), ""))
        for peer in entry["peers"]:
            ratios = "; ".join(f"{r['ratio']:.3f} ± {r['se']:.3f}" if r["se"] else f"{r['ratio']:.3f}" for r in peer["ratios"].values())
            cells.append(("", peer["system"], figures(peer), ratios))
    widths = [max(len(row[i]) for row in cells) for i in range(4)]
    cells.insert(1, tuple("-" * w for w in widths))
    note = "\n± is a standard error. A ratio is Discreet's figure over the peer's (of keys shown the peer's over Discreet's): below 1 Discreet is ahead."
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in cells) + note


def figures(s):
    parts = [f"{s['shown']:.1f} ± {s['shown_se']:.1f}"] if "shown" in s else []
    parts += [f"{s['price']:g}"] if "price" in s else []
    return "; ".join([*parts, f"{s['rmse']:.3g} ± {s['rmse_se']:.2g}"])


if __name__ == "__main__":
    main()
