// Package pgtables reads tables of a PostgreSQL database: who may read them, what their columns
// are, and all of their rows in one state of the data.
//
// Nothing that an analyst writes comes here. What is asked of the database is what this package
// writes, names of the policy, and the owner's version query: so nothing that goes wrong here can
// depend on a question, and no message of the database reaches anybody but the owner.
//
// A connection sees no schema but pg_catalog by its short name, reads only, and runs no function
// of a user's: tables, no views and no foreign tables, of types that the database itself has,
// without row security. What else there is, is refused when the data is opened, unless the owner
// answers for it (policy.Table.Trusted). So is a role that may do more than read the tables of
// the policy: a mistake here could otherwise do what the role may do.
package pgtables
