"""The questions of benchmarks/peers by diffprivlib."""
import json
import sys
import warnings
from importlib.metadata import version

from diffprivlib import BudgetAccountant, tools

warnings.simplefilter("ignore")


def main(facts):
    system = f"diffprivlib {version('diffprivlib')}"
    times, ages = 5 * facts["times"], facts["ages"]
    # As many zeros beside the people: its count is cut at the length of the array, which would tell how many there are.
    array = [1] * len(ages) + [0] * len(ages)
    count = [int(tools.count_nonzero(array, epsilon=1, accountant=BudgetAccountant())) - len(ages) for _ in range(times)]
    out = [{"row": "count", "system": system, "errors": count}]
    for row, column, upper in (("mean-age", "ages", 100), ("mean-salary", "salaries", facts["salary"])):
        values = facts[column]
        exact = sum(values) / len(values)
        errors = [float(tools.mean(values, epsilon=1, bounds=(0, upper), accountant=BudgetAccountant())) - exact for _ in range(times)]
        out.append({"row": row, "system": system, "errors": errors})
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main(json.load(open(sys.argv[1])))
