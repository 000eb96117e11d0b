// Package pgcatalog answers what PostgreSQL's clients ask about the database itself: pg_catalog and
// information_schema, and queries about no table at all, without a PostgreSQL. A [Catalog] is made
// of a dataset's policy ([New], in model.go, the only file that knows policies) for one connection,
// which says who it is ([Session]). It tells whether a SELECT is about the catalogue
// ([Catalog.About]), describes the columns of a query, and runs it.
//
// The package is the model: tables that are made from the policy and hold nothing else, and the
// functions that read them. Package interpret runs the queries, over whatever tables it is given,
// package inventory lists what PostgreSQL has, package oid has PostgreSQL's types and package
// datum their values; these three know no policy. No private data is in the reach of any, so what
// they answer is free and exact.
//
// # What there is
//
// All relations of PostgreSQL 15's pg_catalog and information_schema exist, with its columns and
// types (data/relations.tsv). They are empty, but for these:
//
//   - what PostgreSQL itself has: types, the functions that read and write them and those that
//     clients know, access methods, languages, collations (data/rows.tsv, oid/pg_type.tsv);
//   - the tables and views of one dataset, in the schema public, with the listed columns:
//     pg_class, pg_attribute, pg_type, pg_tables, pg_views, information_schema.tables and so on. A
//     column that the policy does not list does not exist. An integer is a bigint, a decimal a
//     numeric, a timestamp one without time zone. The columns of a view are those of its text, or
//     none where it cannot be told;
//   - keys. A unique column is a primary key, a column that a path leads to a unique one, and a
//     path a foreign key, all where the columns are listed;
//   - comments (pg_description): bounds, keys, and whether answers are noisy;
//   - the datasets that the user may ask, as databases; the user, the role owner, whom the tables
//     belong to, and postgres, whom the system belongs to, as roles; the user's own session and its
//     advisory locks, which mean nothing to any other;
//   - the settings of PostgreSQL.
//
// Statistics do not exist: pg_stats and its kin are empty, sizes are 0, reltuples is -1.
//
// A query looks at 5 million rows and expressions and makes 96 MiB of rows and texts at most. The
// limits on texts and results are in package interpret.
package pgcatalog
