// Package catalog answers what clients ask about the database itself: pg_catalog and information_schema, and queries about no table at all. The
// tables are made up from the policy and hold nothing else, and the queries are run by a small interpreter of PostgreSQL's grammar: in Go, without
// memory that is not Go's, in a bounded number of steps. No private data is in its reach, so what it answers is free and exact.
//
// # What there is
//
// All relations of PostgreSQL 15's pg_catalog and information_schema exist, with its columns and types (data/relations.tsv). They are empty, but for these:
//
//   - what PostgreSQL itself has: types, the functions that read and write them and those that can be called here, access methods, languages, collations (data/rows.tsv);
//   - the tables and views of one dataset, in the schema public, with the listed columns: pg_class, pg_attribute, pg_type, pg_tables, pg_views, information_schema.tables
//     and so on. A column that the policy does not list does not exist. An integer is a bigint, a decimal a numeric, a timestamp one without time zone. The columns of a view
//     are those of its text, or none where this package cannot tell;
//   - keys. A unique column is a primary key, a column that a path leads to a unique one, and a path a foreign key, all where the columns are listed;
//   - comments (pg_description): bounds, keys, and whether answers are noisy;
//   - the datasets that the user may ask, as databases; the user and the role owner, whom the tables belong to, as roles; the user's own session.
//
// Statistics do not exist: pg_stats and its kin are empty, sizes are 0, reltuples is -1.
//
// # What can be asked
//
// One SELECT, VALUES or TABLE over these relations: joins of all kinds, LATERAL, subqueries, WITH (RECURSIVE), GROUP BY, HAVING, DISTINCT (ON), window functions
// without frames, UNION, INTERSECT, EXCEPT, ORDER BY, LIMIT, arrays, records, casts, regular expressions, and the functions on a list. Parameters are $1, $2, ... Types
// are those of PostgreSQL, and are known before anything runs. A numeric is a double inside; texts are in the order of their bytes. Regular expressions are those of RE2: no
// look-around, no back references. What is missing is refused with 0A000, a function that is not on the list with 42883.
//
// # Limits
//
// A text has at most 64 KiB, 6000 words and 64 levels of parentheses, which is checked before it is parsed, and 300 SELECTs. A run looks at 5 million rows and expressions and makes 96 MiB of rows and texts at
// most, and a result has at most 100,000 rows and 16 MiB. What needs more ends with 54000.
package catalog
