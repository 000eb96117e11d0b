// postgres.js: tagged templates, helpers, cursors, COPY, arrays.
import { need, step, tool, questions } from "./step.mjs";

const postgres = need("postgres");
tool("postgres");
const sql = postgres({ max: 1, onnotice: () => {} });
for (const [name, text] of questions) await step(name, () => sql.unsafe(text));
const age = 40, sick = ["flu", "asthma"], from = new Date(Date.UTC(2025, 2, 1));
await step("list", () => sql`select table_name from information_schema.tables where table_schema = ${"public"}`);
await step("columns", () => sql`select column_name, data_type from information_schema.columns where table_name = ${"visits"}`);
await step("parameters", () => sql`select count(*) from patients where age > ${age} and smoker = ${true}`);
await step("in", () => sql`select diagnosis, count(*) from patients where diagnosis in ${sql(sick)} group by diagnosis`);
await step("any", () => sql`select diagnosis, count(*) from patients where diagnosis = any(${sick}) group by diagnosis`);
await step("dates", () => sql`select count(*) from visits where arrived >= ${from}`);
await step("names", () => sql`select ${sql("sex")}, count(*) from ${sql("patients")} group by ${sql("sex")}`);
await step("limit", () => sql`select diagnosis, count(*) from patients group by diagnosis order by 1 limit ${2} offset ${1}`);
await step("cursor", () => sql`select diagnosis, count(*) from patients group by diagnosis`.cursor(2, () => {}));
await step("for each", () => sql`select sex, count(*) from patients group by sex`.forEach(() => {}));
await step("describe", () => sql`select sex, count(*) from patients where age > ${1} group by sex`.describe());
await step("simple", () => sql`select count(*) from patients; select count(*) from visits`.simple());
await step("values", () => sql`select sex, avg(cost) from patients group by sex`.values());
await step("transaction", () => sql.begin("read only", (s) => s`select count(*) from visits`));
await step("copy", async () => {
  const r = await sql`copy (select sex, count(*) from patients group by sex) to stdout`.readable();
  for await (const _ of r);
});
await step("reserve", async () => { const r = await sql.reserve(); await r`select 1`; r.release(); });
await sql.end({ timeout: 5 });
