// Whether the packages of a sender are installed.
import { need } from "./step.mjs";

const packages = { node_pg: ["pg", "pg-cursor", "pg-query-stream"], postgresjs: ["postgres"], knex: ["knex", "pg"], sequelize: ["sequelize", "pg"], drizzle: ["drizzle-orm/node-postgres", "drizzle-orm/postgres-js"], typeorm: ["typeorm", "reflect-metadata"],
  kysely: ["kysely", "pg"], postgraphile: ["postgraphile", "graphql"], malloy: ["@malloydata/malloy", "@malloydata/db-postgres"] };
for (const p of packages[process.argv[2]]) need(p);
