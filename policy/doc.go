// Package policy reads the owner's file: which tables there are, whom the budget
// protects, how far each value can reach, and who may ask. It reads no data and
// knows no database. This comment is the specification of the file.
//
//	datasets:
//	  hospital:
//	    engine: duckdb
//	    source: hospital.duckdb
//	    unit: patients.pid
//	    neighbours: add-remove
//	    budget: {epsilon: 10, delta: 1e-6, per_query: {default: 0.1, max: 1.0}}
//	    analysts: {ana: {share: 0.5}, ben: {share: 0.5}}
//	    tables:
//	      patients:
//	        unique: pid
//	        columns:
//	          age:       {type: integer, bounds: [0, 110]}
//	          sex:       {type: text, keys: [F, M, X]}
//	          diagnosis: {type: text, keys: private}
//	          cost:      {type: decimal, bounds: [0, 50000], granularity: 0.01}
//	      visits:
//	        path: pid -> patients.pid
//	        max_rows: 50
//	        max_groups: 5
//	        columns:
//	          day:  {type: date}
//	          cost: {type: decimal, bounds: [0, 5000], granularity: 0.01}
//
// # The text
//
// A policy is one YAML document of at most 1 MiB. It says what it shows: a key that
// is not in this specification, a key given twice, an anchor, an alias, a merge key, a
// tag, and a second document are errors. All errors are reported together, each
// with its line and column ([Error]). A value is read from its spelling: a
// number is an exact decimal and never a float64, and in a text column the keys NO, 01
// and 1e3 are those texts. Numbers stand without quotes, and have no _ and no
// other base than ten.
//
// Tables and columns have the names they have in the data: up to 63 bytes that
// can be seen, without double quotes, and without a space at either end. Datasets and
// analysts have 1 to 64 of the characters A-Z, a-z, 0-9, _, ., @ and -. Among its
// neighbours a name must differ in more than letter case.
//
// # At the top
//
//	ledger    the ledger's file, from the policy's folder. Default: the
//	          policy's own path with the extension .ledger.
//	datasets  the datasets by name; at least one. Required.
//
// # A dataset
//
//	engine      duckdb. Required.
//	source      where the tables are, from the policy's folder. A name in
//	            .duckdb, .ddb or .db is a DuckDB file with the tables in it; a name in
//	            .csv, .tsv, .txt (or one of these and .gz), .parquet or .pq is
//	            the file of the only table; everything else is a folder that
//	            holds TABLE.parquet or else TABLE.csv for each table. It may be
//	            missing where every table has its own.
//	unit        whom the budget protects: row, where every row is a person, or
//	            TABLE.COLUMN, where every value of that column is. Required.
//	neighbours  add-remove (one person is there or not; the default), or
//	            substitute (one person is replaced; the number of people is public).
//	budget      below. Required.
//	analysts    who may ask, by name; at least one. Required.
//	tables      the tables by name; at least one. A table that is not listed
//	            does not exist for analysts. Required.
//
// # A budget
//
//	epsilon    above 0 and at most 100. Required.
//	delta      from 0, the default, to 0.01. With 0 the budget is pure, and the
//	           epsilons of all questions add up to at most epsilon. With more it
//	           is zero-concentrated, and the rhos of all questions add up to at most
//	           the rho that is worth (epsilon, delta); all of delta is used by
//	           that conversion. A zero-concentrated budget answers more
//	           questions when they are many.
//	per_query  default is the epsilon of a question that names none: a twentieth of the
//	           budget's unless given, or max where that is less. max is the
//	           largest epsilon a question may name: the whole budget's unless
//	           given. default <= max <= epsilon.
//
// Amounts are rounded down to whole units of 2^-40.
//
// # An analyst
//
//	share  the part of the dataset's budget (of its epsilon where it is pure, of
//	       its rho otherwise) that this analyst may use, above 0 and at most 1,
//	       the default. It is a quota inside the budget, which holds against
//	       all analysts together, so shares may add up to more than 1: then who
//	       comes first is served first.
//
// # A table
//
//	source      a CSV or Parquet file of its own, from the dataset's folder where
//	            the dataset's source is one, from the policy's folder otherwise.
//	delimiter   one character, for CSV files. Default: a comma; a tab for .tsv.
//	unique      the unit's column, where nobody has more than one row.
//	path        COLUMN -> TABLE.COLUMN, from this table's column to the unit, for
//	            every table but the unit's own. One step only.
//	max_rows    from 1 to 1,000,000: how many rows of one person count at most in
//	            one group of an answer.
//	max_groups  from 1 to 1,000,000: in how many groups of an answer one person
//	            counts at most.
//	columns     the columns by name. A column that is not listed does not exist
//	            for analysts. Required, and may be empty: {}.
//
// With unit: row no table has unique, path, max_rows or max_groups. Otherwise
// every table leads to the unit, and has either unique or both max_rows and
// max_groups; the unit's own table, too, may be one where a person has many rows.
// unique is a promise of the owner's that the privacy of answers rests on.
//
// No data has two names: two tables that are read from the same file, or from the
// same table of a database, are an error, in one dataset or in two.
//
// # A column
//
//	type         integer, decimal, text, boolean, date or timestamp. Required. A
//	             timestamp is in UTC, to the microsecond.
//	nullable     whether there may be NULL: true, the default, or false.
//	bounds       [lowest, highest] for an integer, decimal, date or timestamp. Values are
//	             moved into them. They are public: take them from what is known
//	             about the world, and not from the data. Both are whole multiples of the
//	             granularity, at most 2^53 of them away from 0. Without
//	             bounds a column can be counted and compared, not summed.
//	bounds_from  data, where the bounds were read off the data after all. It
//	             changes nothing and is there to be warned about.
//	granularity  the step that values are rounded to: for a decimal, required
//	             with bounds; for an integer, a whole number and 1 by default.
//	             A date's is one day, a timestamp's one microsecond.
//	keys         a list of up to 10,000 values that may appear as groups, all of
//	             which then always do; or private, where which values there are is
//	             itself private. null without quotes is the group of rows
//	             without a value. A decimal has no keys.
package policy
