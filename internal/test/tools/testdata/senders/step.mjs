// What the senders in JavaScript share. Packages are found in DISCREET_TOOLS/node, wherever this is.
import { writeFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const root = process.env.DISCREET_TOOLS + "/node/";
export const need = createRequire(root + "x.js");
export const host = process.env.PGHOST, port = +process.env.PGPORT, user = process.env.PGUSER;
export const password = process.env.PGPASSWORD, database = process.env.PGDATABASE;
export const url = `postgres://${user}:${password}@${host}:${port}/${database}`;

export const tool = (...names) =>
  console.log("tool " + names.map((n) => `${n} ${JSON.parse(readFileSync(root + "node_modules/" + n + "/package.json")).version}`).join(", "));

export async function step(name, doing) {
  writeFileSync(process.env.DISCREET_STEP, name);
  try {
    await doing();
    console.log("ok " + name);
  } catch (e) {
    const cause = e.cause && e.cause.message ? e.cause.message : e.message;
    console.log(`no ${name} | ${e.constructor.name}: ${String(cause).replace(/\s+/g, " ").slice(0, 300)}`);
  }
}

// What a newcomer asks.
export const questions = [
  ["first rows", "SELECT * FROM patients LIMIT 10"],
  ["count", "SELECT COUNT(*) FROM patients"],
  ["group", "SELECT diagnosis, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY diagnosis ORDER BY n DESC"],
  ["by month", "SELECT date_trunc('month', arrived) AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1"],
  ["filter", "SELECT ward, SUM(cost) FROM visits WHERE day >= '2025-03-01' AND day < '2025-06-01' GROUP BY ward"],
  ["join", "SELECT p.sex, v.ward, COUNT(*) FROM patients p JOIN visits v ON p.pid = v.pid GROUP BY p.sex, v.ward"],
  ["public table", "SELECT * FROM wards ORDER BY ward"],
  ["page", "SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY diagnosis LIMIT 3 OFFSET 3"],
  ["one person", "SELECT * FROM patients WHERE pid = 37"],
  ["write", "UPDATE patients SET age = 0 WHERE pid = 37"],
];
