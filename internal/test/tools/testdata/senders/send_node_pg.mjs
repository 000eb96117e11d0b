// node-postgres: a pool, parameters, prepared statements, a cursor, a stream.
import { need, step, tool, questions } from "./step.mjs";

const pg = need("pg"), Cursor = need("pg-cursor"), QueryStream = need("pg-query-stream");
tool("pg", "pg-cursor", "pg-query-stream");
const pool = new pg.Pool({ max: 2 });
for (const [name, sql] of questions) await step(name, () => pool.query(sql));
await step("list", () => pool.query("SELECT table_name FROM information_schema.tables WHERE table_schema = $1", ["public"]));
await step("columns", () => pool.query("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1", ["visits"]));
await step("parameters", () => pool.query("SELECT COUNT(*) FROM patients WHERE age > $1 AND diagnosis = $2", [40, "flu"]));
await step("any", () => pool.query("SELECT diagnosis, COUNT(*) FROM patients WHERE diagnosis = ANY($1) GROUP BY diagnosis", [["flu", "asthma"]]));
await step("any cast", () => pool.query("SELECT COUNT(*) FROM patients WHERE age = ANY($1::int[])", [[30, 31]]));
await step("dates", () => pool.query("SELECT COUNT(*) FROM visits WHERE arrived >= $1 AND day < $2", [new Date(Date.UTC(2025, 2, 1)), "2025-06-01"]));
await step("limit", () => pool.query("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1 LIMIT $1 OFFSET $2", [2, 1]));
await step("boolean", () => pool.query("SELECT COUNT(*) FROM patients WHERE smoker = $1", [true]));
await step("named", async () => {
  for (const v of [20, 30]) await pool.query({ name: "older", text: "SELECT COUNT(*) FROM patients WHERE age > $1", values: [v] });
});
await step("arrays", () => pool.query({ text: "SELECT sex, COUNT(*) FROM patients GROUP BY sex", rowMode: "array" }));
await step("binary", () => pool.query({ text: "SELECT sex, COUNT(*) FROM patients WHERE age > $1 GROUP BY sex", values: [30], binary: true }));
await step("several", () => pool.query("SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM visits"));
await step("cursor", async () => {
  const c = await pool.connect();
  try {
    const k = c.query(new Cursor("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis"));
    await k.read(2);
    await k.read(100);
    await k.close();
  } finally { c.release(); }
});
await step("stream", async () => {
  const c = await pool.connect();
  try {
    for await (const _ of c.query(new QueryStream("SELECT sex, COUNT(*) FROM patients GROUP BY sex", [], { batchSize: 2 })));
  } finally { c.release(); }
});
await step("transaction", async () => {
  const c = await pool.connect();
  try {
    await c.query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
    await c.query("SELECT COUNT(*) FROM visits");
    await c.query("COMMIT");
  } finally { c.release(); }
});
await step("timeouts", async () => {
  const c = new pg.Client({ statement_timeout: 60000, application_name: "node", query_timeout: 60000, options: "-c search_path=public" });
  await c.connect();
  await c.query("SELECT 1");
  await c.end();
});
await pool.end();
