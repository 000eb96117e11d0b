// Package oid has the types and schemas of PostgreSQL by the identifiers that are the same
// everywhere: which types there are, what they are made of, and how the catalogue keeps their
// values.
package oid
