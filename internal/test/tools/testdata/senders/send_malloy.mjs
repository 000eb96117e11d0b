// Malloy: models over tables, nested results, which come as JSON.
import { need, step, tool, host, port, user, password, database } from "./step.mjs";

const { PostgresConnection } = need("@malloydata/db-postgres");
const { SingleConnectionRuntime } = need("@malloydata/malloy");
tool("@malloydata/malloy", "@malloydata/db-postgres");
const connection = new PostgresConnection("hospital", () => ({}), () => ({ host, port, username: user, password, databaseName: database }));
const runtime = new SingleConnectionRuntime({ connection });
const model = `
source: wards is hospital.table('public.wards') extend { primary_key: ward }
source: patients is hospital.table('public.patients') extend { measure: n is count(), mean_age is age.avg() }
source: visits is hospital.table('public.visits') extend { join_one: wards with ward  measure: n is count(), spent is cost.sum() }
`;
const soon = (doing) => Promise.race([doing, new Promise((_, no) => setTimeout(() => no(new Error("no answer in 10 s")), 10000))]);
const ask = (text) => soon(runtime.loadModel(model).loadQuery(text).run());
await step("connect", () => connection.test());
await step("group", () => ask("run: patients -> { group_by: diagnosis aggregate: n, mean_age }"));
await step("one", () => ask("run: patients -> { aggregate: n }"));
await step("filter", () => ask("run: patients -> { where: age > 40 group_by: sex aggregate: n is count() { where: smoker } }"));
await step("months", () => ask("run: visits -> { group_by: m is arrived.month aggregate: n, spent }"));
await step("joined", () => ask("run: visits -> { group_by: wards.building aggregate: n }"));
await step("nested", () => ask("run: patients -> { group_by: sex aggregate: n nest: by_diagnosis is { group_by: diagnosis aggregate: n } }"));
await step("rows", () => ask("run: patients -> { select: age, sex limit: 10 }"));
await step("public table", () => ask("run: wards -> { select: ward, building, beds order_by: ward }"));
await step("public group", () => ask("run: wards -> { group_by: building aggregate: beds_total is beds.sum() }"));
process.exit(0); // whatever it still waits for
