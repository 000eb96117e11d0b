// PostGraphile: a GraphQL schema made of the catalogue, and questions by it.
import { need, step, tool, url } from "./step.mjs";

const { createPostGraphileSchema, withPostGraphileContext } = need("postgraphile");
const { graphql } = need("graphql");
const { Pool } = need("pg");
tool("postgraphile", "graphql", "pg");
const pool = new Pool({ connectionString: url, max: 2 });
let schema;
await step("schema", async () => { schema = await createPostGraphileSchema(pool, ["public"], { legacyRelations: "omit", dynamicJson: true }); });
const ask = async (text) => {
  const r = await withPostGraphileContext({ pgPool: pool }, (context) => graphql(schema, text, null, { ...context }));
  if (r.errors) throw r.errors[0].originalError ?? r.errors[0];
};
if (schema) {
  await step("types", () => ask("{ __schema { types { name } } }"));
  await step("public table", () => ask("{ allWards(orderBy: WARD_ASC) { nodes { ward building beds } } }"));
  await step("public page", () => ask("{ allWards(first: 2, orderBy: WARD_ASC) { totalCount pageInfo { hasNextPage } edges { cursor node { ward } } } }"));
  await step("public one", () => ask('{ wardByWard(ward: "surgery") { building } }'));
  await step("first rows", () => ask("{ allPatients(first: 10) { nodes { sex age } } }"));
  await step("count", () => ask("{ allPatients { totalCount } }"));
  await step("one person", () => ask('{ patientByPid(pid: "37") { age } }'));
}
await pool.end();
