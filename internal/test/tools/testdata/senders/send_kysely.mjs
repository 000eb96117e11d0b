// Kysely over pg: its introspection, its builder.
import { need, step, tool, host, port, user, password, database } from "./step.mjs";

const { Kysely, PostgresDialect, sql } = need("kysely");
const { Pool } = need("pg");
tool("kysely", "pg");
const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool({ host, port, user, password, database, max: 2 }) }) });
const n = (e) => e.fn.countAll().as("n");
await step("connect", () => sql`SELECT 1`.execute(db));
await step("introspect", () => db.introspection.getTables());
await step("schemas", () => db.introspection.getSchemas());
await step("first rows", () => db.selectFrom("patients").selectAll().limit(10).execute());
await step("one person", () => db.selectFrom("patients").selectAll().where("pid", "=", 37).executeTakeFirst());
await step("exists", () => db.selectNoFrom((e) => e.exists(e.selectFrom("patients").select("pid").where("age", ">", 40)).as("x")).execute());
await step("count", () => db.selectFrom("patients").select(n).executeTakeFirstOrThrow());
await step("group", () => db.selectFrom("patients").select(["diagnosis", n, (e) => e.fn.avg("age").as("a")]).groupBy("diagnosis").orderBy("n", "desc").execute());
await step("filter", () => db.selectFrom("patients").select(["sex", (e) => e.fn.count("pid").filterWhere("age", ">=", 65).as("n")]).groupBy("sex").execute());
await step("in", () => db.selectFrom("patients").select(n).where("diagnosis", "in", ["flu", "asthma"]).execute());
await step("any", () => db.selectFrom("patients").select(n).where("pid", "=", (e) => e.fn.any(e.selectFrom("visits").select("pid").where("ward", "=", "surgery"))).execute());
await step("case", () => db.selectFrom("patients").select((e) => [e.fn.sum(e.case().when("smoker", "=", true).then(1).else(0).end()).as("s")]).execute());
await step("join", () => db.selectFrom("patients as p").innerJoin("visits as v", "v.pid", "p.pid").select(["p.sex", n]).groupBy("p.sex").execute());
await step("with", () => db.with("t", (d) => d.selectFrom("patients").select(["sex", n]).groupBy("sex")).selectFrom("t").selectAll().execute());
await step("page", () => db.selectFrom("patients").select(["diagnosis", n]).groupBy("diagnosis").orderBy("diagnosis").limit(2).offset(2).execute());
await step("json", () => db.selectFrom(db.selectFrom("patients").select(["sex", n]).groupBy("sex").as("t")).select((e) => e.fn.jsonAgg("t").as("j")).execute());
await step("distinct on", () => db.selectFrom("wards").distinctOn("building").select(["building", "ward"]).orderBy("building").orderBy("ward").execute());
await step("public table", () => db.selectFrom("wards").selectAll().orderBy("ward").execute());
await step("transaction", () => db.transaction().setAccessMode("read only").execute((t) => t.selectFrom("visits").select(n).execute()));
await step("write", () => db.insertInto("wards").values({ ward: "new", building: "east", beds: 1 }).execute());
await db.destroy();
