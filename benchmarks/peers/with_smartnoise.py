"""The questions of benchmarks/peers by SmartNoise SQL."""
import json
import sys
import warnings
from importlib.metadata import version

import pandas
from snsql import Privacy, from_df

warnings.simplefilter("ignore")
SYSTEM = f"SmartNoise SQL {version('smartnoise-sql')}"


def main(facts):
    keys = facts["keys"]
    visits = pandas.DataFrame({"g": [key for key, n in keys.items() for _ in range(n)]})
    shown, errors = [], []
    for _ in range(2 + facts["times"] // 100):
        answer = ask(visits, "COUNT(*)", row_privacy=True, censor_dims=True)
        shown.append(len(answer))
        errors += [n - keys[key] for key, n in answer]
    count = counts(4 * facts["times"], 20, row_privacy=True)
    regions = counts(facts["times"], 400, max_ids=facts["rows_of_a_customer"])
    cut = facts["cut"]
    rows = pandas.DataFrame({"g": [f"g{i}" for i in range(4 * facts["times"])], "person": range(4 * facts["times"]), "v": 0})
    sums = [n + cut[i % len(cut)] for i, (_, n) in enumerate(ask(rows, "SUM(v)", upper=facts["max_sum"], max_ids=len(cut)))]
    json.dump([{"row": "keys-laplace", "system": SYSTEM, "shown": shown, "errors": errors},
               {"row": "count", "system": SYSTEM, "errors": count},
               {"row": "regions", "system": SYSTEM, "errors": regions},
               {"row": "sums", "system": SYSTEM, "errors": sums}], sys.stdout)


def counts(groups, each, **options):
    """Errors of counts of groups that are all the same. It cuts digits off, so each is large enough not to be near 0."""
    rows = pandas.DataFrame({"g": [f"g{i}" for i in range(groups)] * each})
    if "max_ids" in options:
        rows["person"] = range(len(rows))
    return [n - each for _, n in ask(rows, "COUNT(*)", **options)]


def ask(rows, number, upper=1, **options):
    """Groups and a number for each, at epsilon 1, and delta 1e-6 where groups are private."""
    columns = {"g": {"type": "string"}, "person": {"type": "int", "private_id": True}, "v": {"type": "int", "lower": 0, "upper": upper}}
    table = {"rows": len(rows), "censor_dims": False, "clamp_counts": False, "max_ids": 1, **options,
             **{name: about for name, about in columns.items() if name in rows}}
    reader = from_df(rows, privacy=Privacy(epsilon=1.0, delta=1e-6), metadata={"": {"s": {"t": table}}})
    return [(g, float(n)) for g, n in reader.execute(f"SELECT g, {number} AS n FROM s.t GROUP BY g")[1:]]


if __name__ == "__main__":
    main(json.load(open(sys.argv[1])))
