"""Made-up tables, the same ones every time, and the policies under which Discreet is asked about them."""
import csv
import random
from collections import Counter
from itertools import accumulate

REGIONS = ["Africa", "America", "Asia", "Europe", "Middle East"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-LOW", "5-NONE"]
ROWS_OF_A_CUSTOMER = 40
ITEMS_OF_A_CUSTOMER = 80
MAX_SUM = 1500
SALARY = 130000


def write(folder):
    """Writes the files into folder, and returns the exact answers together with what peers need of the data."""
    rng = random.Random(20)
    facts = {"keys": keys(folder, rng)}
    facts.update(shop(folder, rng))
    facts.update(people(folder, rng))
    policies(folder)
    return facts


def table(folder, name, header, rows):
    with open(folder / name, "w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def keys(folder, rng):
    """100,000 people with a key each, Zipf(1.2) over 5,000 of them. How many people have each."""
    weights = list(accumulate(k ** -1.2 for k in range(1, 5001)))
    chosen = [f"k{k}" for k in rng.choices(range(1, 5001), cum_weights=weights, k=100_000)]
    table(folder, "visits.csv", ["site"], [[k] for k in chosen])
    return dict(Counter(chosen))


def shop(folder, rng):
    """3,000 customers of 25 nations, their orders and items. Nobody has more rows than the limits, so only noise and max_sum err."""
    nations = [[f"n{i}", REGIONS[i % 5]] for i in range(25)]
    customers, orders, items = [], [], []
    by_region, sums = Counter(), {}
    for c in range(3000):
        nation = rng.randrange(25)
        customers.append([c, f"n{nation}"])
        for _ in range(min(ROWS_OF_A_CUSTOMER, int(rng.expovariate(1 / 9)))):
            oid, priority = len(orders), rng.choice(PRIORITIES)
            orders.append([oid, c, priority])
            by_region[REGIONS[nation % 5]] += 1
            for _ in range(rng.choice([1, 1, 2])):
                cents = int(min(50000, 100 * rng.lognormvariate(4, 0.8)))
                items.append([oid, f"{cents / 100:.2f}"])
                sums[c, priority] = sums.get((c, priority), 0) + cents
    table(folder, "nations.csv", ["nation", "region"], nations)
    table(folder, "customers.csv", ["cid", "nation"], customers)
    table(folder, "orders.csv", ["oid", "cid", "priority"], orders)
    table(folder, "items.csv", ["oid", "price"], items)
    persons = {p: sorted(v / 100 for (_, q), v in sums.items() if q == p) for p in PRIORITIES}
    return {"regions": dict(by_region), "sums_by_person": persons}


def people(folder, rng):
    ages = [rng.randrange(18, 95) for _ in range(2000)]
    salaries = [min(SALARY, int(rng.lognormvariate(10.5, 0.5))) for _ in ages]
    table(folder, "people.csv", ["age", "salary"], zip(ages, salaries))
    return {"ages": ages, "salaries": salaries}


def policies(folder):
    """A policy for each budget: what differs is which noise it has, and how much of delta is for keys."""
    for name, text in {"keys-laplace": KEYS.format(noise="laplace", delta="9.99999e-7"), "keys-gaussian": KEYS.format(noise="gaussian", delta="5e-7"),
                       "count": COUNT, "shop": SHOP, "ladder": LADDER, "replaced": REPLACED}.items():
        (folder / f"{name}.yaml").write_text(text)


KEYS = """
datasets:
  visits:
    engine: duckdb
    source: visits.csv
    unit: row
    budget: {{epsilon: 1, delta: 1e-6, keys_delta: {delta}, noise: {noise}, per_query: {{delta: {delta}}}}}
    analysts: {{ana: {{}}}}
    tables: {{visits: {{columns: {{site: {{type: text, keys: private}}}}}}}}
"""

COUNT = """
datasets:
  people:
    engine: duckdb
    source: people.csv
    unit: row
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {ana: {}}
    tables: {people: {columns: {age: {type: integer, bounds: [0, 100], nullable: false}}}}
"""

LADDER = COUNT.replace("{epsilon: 1, delta: 1e-6}", "{epsilon: 1}")

REPLACED = """
datasets:
  people:
    engine: duckdb
    source: people.csv
    unit: row
    neighbours: substitute
    budget: {epsilon: 2}
    analysts: {ana: {}}
    tables:
      people:
        bad_lines: refuse
        columns:
          age: {type: integer, bounds: [0, 100], nullable: false}
          salary: {type: integer, bounds: [0, %d], nullable: false}
""" % SALARY

SHOP = """
datasets:
  shop:
    engine: duckdb
    source: .
    unit: customers.cid
    budget: {epsilon: 2}
    analysts: {ana: {}}
    tables:
      customers: {unique: cid, columns: {cid: {type: integer}, nation: {type: text}}}
      orders:
        path: cid -> customers.cid
        max_rows: %d
        max_groups: 5
        columns: {oid: {type: integer}, priority: {type: text, keys: [%s]}}
      items:
        path: oid -> orders.oid
        max_rows: %d
        max_groups: 5
        columns: {price: {type: decimal, bounds: [0, 500], granularity: 0.01}}
      nations:
        public: true
        unique: nation
        columns: {nation: {type: text}, region: {type: text, keys: [%s]}}
""" % (ROWS_OF_A_CUSTOMER, ", ".join(PRIORITIES), ITEMS_OF_A_CUSTOMER, ", ".join(REGIONS))
