"""Asks Discreet, each time with a new ledger, so that every answer is paid for from a whole budget."""
import json
import subprocess

import data

REGIONS = "SELECT n.region, COUNT(*) FROM orders o JOIN customers c ON o.cid = c.cid JOIN nations n ON c.nation = n.nation GROUP BY n.region"
SUMS = "SELECT o.priority, SUM(i.price) FROM items i JOIN orders o ON i.oid = o.oid GROUP BY o.priority"


class Discreet:
    def __init__(self, binary, folder, facts, times):
        self.binary, self.folder, self.facts, self.times = binary, folder, facts, times
        self.system = "Discreet"

    def results(self):
        people = len(self.facts["ages"])
        laplace = self.keys("keys-laplace", 1)
        gaussian = self.keys("keys-gaussian", 0.2145)
        asked = self.repeat("count", [(1, "SELECT COUNT(*) FROM people")], self.times)
        count = self.result("count", [a[0]["rows"][0][0] - people for a in asked])
        return [laplace, gaussian, count, *self.shop(), *self.averages(), self.ladder()]

    def result(self, row, errors, **more):
        return {"row": row, "system": self.system, "errors": errors, **more}

    def repeat(self, policy, questions, times):
        """The answers to questions, each an epsilon and SQL, and settings where there are more; times in one process."""
        asked = [{"sql": sql, "settings": {"dp.epsilon": str(epsilon), **dict(more)}} for epsilon, sql, *more in questions]
        done = subprocess.run([self.binary, self.folder / f"{policy}.yaml", str(times)], input=json.dumps(asked), stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"discreet failed with {policy}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def keys(self, policy, epsilon):
        exact, errors, shown = self.facts["keys"], [], []
        for answers in self.repeat(policy, [(epsilon, "SELECT site, COUNT(*) FROM visits GROUP BY site")], 2 + self.times // 30):
            shown.append(len(answers[0]["rows"]))
            errors += [n - exact.get(k, 0) for k, n in answers[0]["rows"]]
            cost = answers[0]["cost"]
        return self.result(policy, errors, shown=shown, rho=cost["rho"], delta=cost["delta"])

    def shop(self):
        asked = self.repeat("shop", [(1, REGIONS), (1, SUMS, ("dp.max_sum", str(data.MAX_SUM)))], 2 + self.times // 4)
        sums = {p: sum(v) for p, v in self.facts["sums_by_person"].items()}
        return [self.result("regions", [n - self.facts["regions"][r] for a in asked for r, n in a[0]["rows"]]),
                self.result("sums", [n - sums[p] for a in asked for p, n in a[1]["rows"]])]

    def averages(self):
        asked = self.repeat("replaced", [(1, "SELECT AVG(age) FROM people"), (1, "SELECT AVG(salary) FROM people")], self.times)
        return [self.result(row, [a[i]["rows"][0][0] - sum(self.facts[column]) / len(self.facts[column]) for a in asked])
                for i, (row, column) in enumerate([("mean-age", "ages"), ("mean-salary", "salaries")])]

    def ladder(self):
        asked = self.repeat("ladder", [(e, "SELECT COUNT(*) FROM people") for e in (0.1, 0.2, 0.4)], self.times)
        people = len(self.facts["ages"])
        return self.result("ladder", [a[2]["rows"][0][0] - people for a in asked], price=1 - asked[-1][2]["remaining"]["epsilon"])

