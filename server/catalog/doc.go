// Package catalog answers what clients ask about the database itself: pg_catalog and information_schema, and queries about no table at all. The
// tables are made up from the policy and hold nothing else, and the queries are run by a small interpreter of PostgreSQL's grammar: in Go, without
// memory that is not Go's, in a bounded number of steps. No private data is in its reach, so what it answers is free and exact.
package catalog
