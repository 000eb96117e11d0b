"""What the senders in Python share: steps, and where the server is."""

import os
import sys

HOST, PORT = os.environ["PGHOST"], int(os.environ["PGPORT"])
USER, PASSWORD, DATABASE = os.environ["PGUSER"], os.environ["PGPASSWORD"], os.environ["PGDATABASE"]
URL = f"postgresql://{USER}:{PASSWORD}@{HOST}:{PORT}/{DATABASE}"


def tool(*names):
    """Says which versions these are."""
    from importlib.metadata import version

    print("tool " + ", ".join(f"{n} {version(n)}" for n in names), flush=True)


def begin(name):
    with open(os.environ["DISCREET_STEP"], "w") as f:
        f.write(name)


def step(name, do, undo=None):
    """Does one thing that people do, and says how it went."""
    begin(name)
    try:
        do()
        print(f"ok {name}", flush=True)
    except Exception as e:  # whatever a library makes of a refusal
        print(f"no {name} | {type(e).__name__}: {' '.join(str(e).split())[:300]}", flush=True)
        if undo:
            undo()


# What a newcomer asks, as (step, SQL).
QUESTIONS = [
    ("first rows", "SELECT * FROM patients LIMIT 10"),
    ("count", "SELECT COUNT(*) FROM patients"),
    ("group", "SELECT diagnosis, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY diagnosis ORDER BY n DESC"),
    ("by month", "SELECT date_trunc('month', arrived) AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1"),
    ("filter", "SELECT ward, SUM(cost) FROM visits WHERE day >= '2025-03-01' AND day < '2025-06-01' GROUP BY ward"),
    ("join", "SELECT p.sex, v.ward, COUNT(*) FROM patients p JOIN visits v ON p.pid = v.pid GROUP BY p.sex, v.ward"),
    ("public table", "SELECT * FROM wards ORDER BY ward"),
    ("page", "SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY diagnosis LIMIT 3 OFFSET 3"),
    ("one person", "SELECT * FROM patients WHERE pid = 37"),
    ("write", "UPDATE patients SET age = 0 WHERE pid = 37"),
]
