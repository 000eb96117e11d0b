"""Asks Discreet, each time with a new ledger, so that every answer is paid for from a whole budget."""
import json
import pathlib
import subprocess
import tempfile

import data

REGIONS = "SELECT n.region, COUNT(*) FROM orders o JOIN customers c ON o.cid = c.cid JOIN nations n ON c.nation = n.nation GROUP BY n.region"
SUMS = "SELECT o.priority, SUM(i.price) FROM items i JOIN orders o ON i.oid = o.oid GROUP BY o.priority"


class Discreet:
    def __init__(self, binary, folder, facts, times):
        self.binary, self.folder, self.facts, self.times = binary, folder, facts, times
        self.system = "Discreet"

    def results(self):
        people = len(self.facts["ages"])
        laplace = self.keys("keys-laplace", "1")
        gaussian = self.keys("keys-gaussian", "0.2145")
        count = self.result("count", [a[0]["rows"][0][0] - people for a in self.repeat("count", ["SET dp.epsilon = 1", "SELECT COUNT(*) FROM people"])])
        return [laplace, gaussian, count, *self.shop(), *self.averages(), self.ladder()]

    def result(self, row, errors, **more):
        return {"row": row, "system": self.system, "errors": errors, **more}

    def repeat(self, policy, statements, times=None):
        return [self.ask(policy, statements) for _ in range(times or self.times)]

    def ask(self, policy, statements):
        """The answers to statements. The policy's text is written anew with a ledger in a folder that is thrown away."""
        with tempfile.TemporaryDirectory() as ledger:
            path = pathlib.Path(self.folder, f"{policy}.asked.yaml")
            path.write_text(f"ledger: {ledger}/spent.ledger\n" + pathlib.Path(self.folder, f"{policy}.yaml").read_text())
            done = subprocess.run([self.binary, "query", "-p", path, "--as", "ana", "--json", "-"],
                                  input=";\n".join(statements) + ";\n", capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"discreet, {policy}: {done.stderr}{done.stdout}")
        return documents(done.stdout)

    def keys(self, policy, epsilon):
        exact, errors, shown = self.facts["keys"], [], []
        for answers in self.repeat(policy, [f"SET dp.epsilon = {epsilon}", "SELECT site, COUNT(*) FROM visits GROUP BY site"], max(2, self.times // 10)):
            shown.append(len(answers[0]["rows"]))
            errors += [n - exact.get(k, 0) for k, n in answers[0]["rows"]]
            cost = answers[0]["cost"]
        return self.result(policy, errors, shown=shown, rho=cost["rho"], delta=cost["delta"])

    def shop(self):
        asked = self.repeat("shop", ["SET dp.epsilon = 1", REGIONS, f"SET dp.max_sum = {data.MAX_SUM}", SUMS], max(2, self.times // 2))
        sums = {p: sum(v) for p, v in self.facts["sums_by_person"].items()}
        return [self.result("regions", [n - self.facts["regions"][r] for a in asked for r, n in a[0]["rows"]]),
                self.result("sums", [n - sums[p] for a in asked for p, n in a[1]["rows"]])]

    def averages(self):
        asked = self.repeat("replaced", ["SET dp.epsilon = 1", "SELECT AVG(age) FROM people", "SELECT AVG(salary) FROM people"])
        return [self.result(row, [a[i]["rows"][0][0] - sum(self.facts[column]) / len(self.facts[column]) for a in asked])
                for i, (row, column) in enumerate([("mean-age", "ages"), ("mean-salary", "salaries")])]

    def ladder(self):
        steps = [s for e in (0.1, 0.2, 0.4) for s in (f"SET dp.epsilon = {e}", "SELECT COUNT(*) FROM people")]
        asked = self.repeat("ladder", steps, max(2, self.times // 2))
        people = len(self.facts["ages"])
        return self.result("ladder", [a[2]["rows"][0][0] - people for a in asked], price=1 - asked[-1][2]["remaining"]["epsilon"])


def documents(text):
    """The JSON documents that follow each other in text; SET prints none."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while (at := text.find("{", at)) >= 0:
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found
