"""The questions of benchmarks/peers by Qrlew, which rewrites SQL: DuckDB runs what it has written for PostgreSQL."""
import json
import sys
from importlib.metadata import version

import duckdb
import pandas
import pyqrlew
import sqlalchemy

SYSTEM = f"Qrlew {version('pyqrlew')}"


def main(facts):
    few = 2 + facts["times"] // 100
    people = len(facts["ages"])
    count = [a[0][0] - people for a in ask("SELECT COUNT(*) AS n FROM t", {"people": people}, 1, 10 * few)]
    by_region = ask("SELECT g, COUNT(*) AS n FROM t GROUP BY g", facts["regions"], facts["rows_of_a_customer"], 5 * few, public=True)
    keys = ask("SELECT g, COUNT(*) AS n FROM t GROUP BY g", facts["keys"], 1, few)
    json.dump([{"row": "keys-laplace", "system": SYSTEM, "shown": [len(a) for a in keys],
                "errors": [n - facts["keys"][key] for a in keys for key, n in a]},
               {"row": "count", "system": SYSTEM, "errors": count},
               {"row": "regions", "system": SYSTEM, "errors": [n - facts["regions"][r] for a in by_region for r, n in a]}], sys.stdout)


def ask(sql, groups, rows_of_a_person, times, public=False):
    """The answers, each for a whole (1, 1e-6), about a table t with so many people in each group."""
    t = pandas.DataFrame({"g": [g for g, n in groups.items() for _ in range(n)]})
    t["person"] = range(len(t))
    described = sqlalchemy.create_engine("sqlite://")
    # Twice: it cuts counts at the size of the table, which would tell how many there are.
    pandas.concat([t, t]).to_sql("t", described, index=False)
    dataset = pyqrlew.Dataset.from_database("d", described)
    if public:
        dataset = dataset.with_possible_values(None, "t", "g", list(groups))
    private = dataset.relation(sql).rewrite_with_differential_privacy(
        dataset, [("t", [], "person")], {"epsilon": 1.0, "delta": 1e-6}, max_multiplicity=float(rows_of_a_person))
    text = private.relation().to_query(pyqrlew.Dialect.PostgreSql)
    database = duckdb.connect()
    database.execute("CREATE TABLE t AS FROM t")
    return [database.execute(text).fetchall() for _ in range(times)]


if __name__ == "__main__":
    main(json.load(open(sys.argv[1])))
