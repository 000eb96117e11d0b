"""The questions of benchmarks/peers by Tumult Analytics."""
import json
import os
import sys
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
os.environ["PYSPARK_PYTHON"] = sys.executable

import pandas
from pyspark.sql import SparkSession
from tmlt.analytics import (AddOneRow, AddRowsWithID, ApproxDPBudget, KeySet, MaxGroupsPerID, MaxRowsPerGroupPerID, PureDPBudget,
                            QueryBuilder, Session)

SYSTEM = f"Tumult Analytics {version('tmlt.analytics')}"


def main(facts):
    spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .config("spark.sql.shuffle.partitions", "2").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    out = [private_keys(spark, facts)]
    # One row of one person in each group: its noise is the same whoever is there.
    names = [f"g{i}" for i in range(4 * facts["times"])]
    rows = spark.createDataFrame(pandas.DataFrame({"g": names, "person": range(len(names)), "v": 0}))
    groups = KeySet.from_dict({"g": names})
    query = QueryBuilder("t").groupby(groups).count(name="n")
    out.append({"row": "count", "system": SYSTEM, "errors": [n - 1 for n in ask(rows, AddOneRow(), query)]})
    query = limited(1, facts["rows_of_a_customer"]).groupby(groups).count(name="n")
    out.append({"row": "regions", "system": SYSTEM, "errors": [n - 1 for n in ask(rows, AddRowsWithID("person"), query)]})
    cut = facts["cut"]
    query = limited(len(cut), 1).groupby(groups).sum("v", low=0, high=facts["max_sum"], name="n")
    sums = ask(rows, AddRowsWithID("person"), query)
    out.append({"row": "sums", "system": SYSTEM, "errors": [n + cut[i % len(cut)] for i, n in enumerate(sums)]})
    json.dump(out, sys.stdout)


def limited(groups, rows):
    return QueryBuilder("t").enforce(MaxGroupsPerID("g", groups)).enforce(MaxRowsPerGroupPerID("g", rows))


def ask(rows, change, query):
    """The numbers of query, at epsilon 1."""
    session = Session.from_dataframe(PureDPBudget(1), "t", rows, protected_change=change)
    return [float(n) for n in session.evaluate(query, PureDPBudget(1)).toPandas()["n"]]


def private_keys(spark, facts):
    """Keys and then counts, for half of epsilon each: Tumult has no release of both in one."""
    keys = facts["keys"]
    visits = spark.createDataFrame(pandas.DataFrame({"g": [key for key, n in keys.items() for _ in range(n)]}))
    shown, errors = [], []
    for _ in range(2 + facts["times"] // 400):
        session = Session.from_dataframe(ApproxDPBudget(1, 1e-6), "t", visits, protected_change=AddOneRow())
        found = session.evaluate(QueryBuilder("t").get_groups(["g"]), ApproxDPBudget(0.5, 1e-6))
        answer = session.evaluate(QueryBuilder("t").groupby(KeySet.from_dataframe(found)).count(name="n"), ApproxDPBudget(0.5, 0)).toPandas()
        shown.append(len(answer))
        errors += [int(n) - keys[key] for key, n in zip(answer["g"], answer["n"])]
    return {"row": "keys-laplace", "system": SYSTEM, "shown": shown, "errors": errors}


if __name__ == "__main__":
    main(json.load(open(sys.argv[1])))
