// Drizzle, over node-postgres and over postgres.js.
import { need, step, tool } from "./step.mjs";

tool("drizzle-orm", "pg", "postgres");
const { sql, count, avg, sum, gt, gte, and, inArray, eq, desc, between, countDistinct } = need("drizzle-orm");
const { pgTable, bigint, text, boolean, numeric, date, timestamp, PgDialect } = need("drizzle-orm/pg-core");
const patients = pgTable("patients", { pid: bigint("pid", { mode: "number" }).primaryKey(), age: bigint("age", { mode: "number" }), sex: text("sex"), diagnosis: text("diagnosis"), smoker: boolean("smoker"), cost: numeric("cost") });
const visits = pgTable("visits", { pid: bigint("pid", { mode: "number" }), day: date("day"), arrived: timestamp("arrived"), ward: text("ward"), cost: numeric("cost") });
const wards = pgTable("wards", { ward: text("ward"), building: text("building"), beds: bigint("beds", { mode: "number" }) });

async function each(name, db) {
  const say = (what, doing) => step(`${name}: ${what}`, doing);
  await say("count", () => db.select({ n: count() }).from(patients));
  await say("$count", () => db.$count(patients, gt(patients.age, 40)));
  await say("first rows", () => db.select().from(patients).limit(10));
  await say("one", () => db.select().from(patients).where(eq(patients.pid, 37)));
  await say("group", () => db.select({ d: patients.diagnosis, n: count(), a: avg(patients.age) }).from(patients).groupBy(patients.diagnosis).orderBy(desc(count())));
  await say("filter", () => db.select({ n: count() }).from(patients).where(and(gt(patients.age, 40), inArray(patients.diagnosis, ["flu", "asthma"]), eq(patients.smoker, true))));
  await say("dates", () => db.select({ w: visits.ward, s: sum(visits.cost) }).from(visits).where(and(between(visits.day, "2025-03-01", "2025-05-31"), gte(visits.arrived, new Date(Date.UTC(2025, 2, 1))))).groupBy(visits.ward));
  await say("by month", () => db.select({ m: sql`date_trunc('month', ${visits.arrived})`.as("m"), n: count() }).from(visits).groupBy(sql`1`).orderBy(sql`1`));
  await say("join", () => db.select({ s: patients.sex, n: count() }).from(patients).innerJoin(visits, eq(patients.pid, visits.pid)).groupBy(patients.sex));
  await say("left join", () => db.select({ b: wards.building, n: count() }).from(visits).leftJoin(wards, eq(visits.ward, wards.ward)).groupBy(wards.building));
  await say("distinct", () => db.selectDistinct({ w: visits.ward }).from(visits));
  await say("people", () => db.select({ n: countDistinct(visits.pid) }).from(visits));
  await say("page", () => db.select({ d: patients.diagnosis, n: count() }).from(patients).groupBy(patients.diagnosis).orderBy(patients.diagnosis).limit(2).offset(2));
  await say("with", () => { const v = db.$with("v").as(db.select({ pid: visits.pid, n: count().as("n") }).from(visits).groupBy(visits.pid)); return db.with(v).select({ a: avg(v.n) }).from(v); });
  await say("public table", () => db.select().from(wards));
  await say("raw", () => db.execute(sql`select sex, count(*) from patients where age > ${30} group by sex`));
  await say("prepared", () => db.select({ n: count() }).from(patients).where(gt(patients.age, sql.placeholder("a"))).prepare("older").execute({ a: 30 }));
  await say("transaction", () => db.transaction((t) => t.select({ n: count() }).from(visits), { accessMode: "read only", isolationLevel: "repeatable read" }));
  await say("write", () => db.insert(wards).values({ ward: "new", building: "east", beds: 1 }).returning());
}

const pool = new (need("pg").Pool)({ max: 1 });
await each("pg", need("drizzle-orm/node-postgres").drizzle(pool));
await pool.end();
const postgres = need("postgres")({ max: 1, onnotice: () => {} });
await each("postgres", need("drizzle-orm/postgres-js").drizzle(postgres));
await postgres.end({ timeout: 5 });
