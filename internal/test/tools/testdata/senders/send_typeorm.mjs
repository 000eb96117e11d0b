// TypeORM: a data source, entities, its query builder, what it asks about the schema.
import { need, step, tool, host, port, user, password, database } from "./step.mjs";

need("reflect-metadata");
const { DataSource, EntitySchema, MoreThan, In, Between } = need("typeorm");
tool("typeorm", "pg");
const Patient = new EntitySchema({ name: "patients", columns: { pid: { type: "bigint", primary: true }, age: { type: "bigint" }, sex: { type: "text" }, diagnosis: { type: "text" }, smoker: { type: "boolean" }, cost: { type: "numeric" } } });
const Visit = new EntitySchema({ name: "visits", columns: { pid: { type: "bigint", primary: true }, day: { type: "date" }, arrived: { type: "timestamp", primary: true }, ward: { type: "text" }, cost: { type: "numeric" } } });
const Ward = new EntitySchema({ name: "wards", columns: { ward: { type: "text", primary: true }, building: { type: "text" }, beds: { type: "bigint" } } });
const db = new DataSource({ type: "postgres", host, port, username: user, password, database, entities: [Patient, Visit, Ward], extra: { max: 2 } });
await step("connect", () => db.initialize());
if (db.isInitialized) {
  const q = (e, a) => db.getRepository(e).createQueryBuilder(a);
  await step("list", async () => { const r = db.createQueryRunner(); await r.getTables(["patients", "visits", "wards"]); await r.getViews([]); await r.hasTable("patients"); await r.getSchemas(); await r.getCurrentDatabase(); await r.getCurrentSchema(); await r.release(); });
  await step("first rows", () => db.getRepository(Patient).find({ take: 10 }));
  await step("one", () => db.getRepository(Patient).findOneBy({ pid: 37 }));
  await step("count", () => db.getRepository(Patient).count());
  await step("count where", () => db.getRepository(Patient).countBy({ age: MoreThan(40), diagnosis: In(["flu", "asthma"]) }));
  await step("sum", () => db.getRepository(Visit).sum("cost", { ward: "surgery" }));
  await step("average", () => db.getRepository(Patient).average("age"));
  await step("group", () => q(Patient, "p").select("p.diagnosis", "d").addSelect("COUNT(*)", "n").addSelect("AVG(p.age)", "a").groupBy("p.diagnosis").orderBy("n", "DESC").getRawMany());
  await step("by month", () => q(Visit, "v").select("date_trunc('month', v.arrived)", "m").addSelect("COUNT(*)", "n").groupBy("m").orderBy("m").getRawMany());
  await step("filter", () => q(Patient, "p").select("COUNT(*)", "n").where("p.age > :a", { a: 40 }).andWhere("p.diagnosis IN (:...d)", { d: ["flu", "asthma"] }).getRawOne());
  await step("dates", () => db.getRepository(Visit).countBy({ arrived: Between(new Date(Date.UTC(2025, 2, 1)), new Date(Date.UTC(2025, 5, 1))) }));
  await step("join", () => q(Patient, "p").innerJoin("visits", "v", "v.pid = p.pid").select("p.sex", "s").addSelect("COUNT(*)", "n").groupBy("p.sex").getRawMany());
  await step("people", () => q(Visit, "v").select("COUNT(DISTINCT v.pid)", "n").getRawOne());
  await step("page", () => q(Patient, "p").select("p.diagnosis", "d").addSelect("COUNT(*)", "n").groupBy("p.diagnosis").orderBy("d").limit(2).offset(2).getRawMany());
  await step("public table", () => db.getRepository(Ward).find({ order: { ward: "ASC" } }));
  await step("raw", () => db.query("SELECT sex, COUNT(*) FROM patients WHERE age > $1 GROUP BY sex", [40]));
  await step("transaction", () => db.transaction((m) => m.getRepository(Visit).count()));
  await step("write", () => db.getRepository(Ward).insert({ ward: "new", building: "east", beds: 1 }));
  await step("schema log", () => db.driver.createSchemaBuilder().log());
  await db.destroy();
}
