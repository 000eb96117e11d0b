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
//	      drugs:
//	        path: vid -> visits.vid
//	        max_rows: 100
//	        max_groups: 5
//	        columns:
//	          code: {type: text}
//	          dose: {type: integer, bounds: [0, 1000]}
//	      formulary:
//	        public: true
//	        unique: code
//	        columns:
//	          code: {type: text}
//	          kind: {type: text, keys: [antibiotic, opioid, other]}
//	    views:
//	      elderly: SELECT sex, cost FROM patients WHERE age >= 65
//
// # The text
//
// A policy is one YAML document of at most 1 MiB. It says what it shows: a key that is not in this
// specification, a key given twice, an anchor, an alias, a merge key, a tag, and a second document
// are errors. All errors are reported together, each with its line and column ([Error]). A value is
// read from its spelling: a number is an exact decimal and never a float64, and in a text column
// the keys NO, 01 and 1e3 are those texts. Numbers stand without quotes, and have no _ and no other
// base than ten.
//
// Tables and columns have the names they have in the data, and views have names like theirs: up to
// 63 bytes that can be seen, without double quotes, and without a space at either end. Datasets,
// groups, streams and holdouts have 1 to 64 of the characters A-Z, a-z, 0-9, _, ., @ and -.
// Analysts have 1 to 64 bytes of letters and digits of any script, in the form that SASLprep (RFC
// 4013) gives them, and of _ . @ -. Among its neighbours a name must differ in more than letter
// case.
//
// # At the top
//
//	format    1: the version of this specification. Default: 1, for good. Another one is refused.
//	ledger    the ledger's file, from the policy's folder, or the address of a PostgreSQL database that
//	          several servers share, postgres://user@host/database, without a password. Default:
//	          the policy's own path with the extension .ledger.
//	anchor    where the head of the ledger is kept a second time, below. Default: nowhere.
//	datasets  the datasets by name; at least one. Required.
//
// # An anchor
//
//	file      the anchor's file, from the policy's folder. It is neither the policy nor the ledger.
//	          Not for a ledger in a database.
//	postgres  the address of a PostgreSQL database, postgres://...; instead of file. It is never shown.
//	name      of the row in the database, where several ledgers share one. Default: the name of
//	          the ledger's file.
//	every     from 1, the default, to 1,000,000: after how many records it is written again.
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
//	version     one SELECT with one row and one column, which names the state of a DuckDB file:
//	            another text, other data. Names of tables are those of the file. The text
//	            is not NULL, has at most 200 bytes, and is shown to analysts.
//	            Default: the contents of the files tell.
//	refresh     for how long a copy of a PostgreSQL database is used before it is looked whether
//	            that has changed, such as 1h; by default it is looked before every question
//	unit        whom the budget protects: row, where every row is a person, or
//	            TABLE.COLUMN, where every value of that column is. Required.
//	neighbours  add-remove (one person is there or not; the default), or
//	            substitute (one person is replaced; the number of people is public).
//	budget      below. Required.
//	analysts    who may ask, by name; at least one. Required.
//	groups      analysts who share a quota, by name. Default: none.
//	tables      the tables by name; at least one. A table that is not listed
//	            does not exist for analysts. At least one is not public. Required.
//	views       SQL by name, for analysts to ask about as if it were a table. A
//	            view has no name of a table, and a text of at most 64 KiB.
//	            What may stand in it is for package planner to say.
//	release     below. Default: deadline.
//	sizes       below. Default: they are counted.
//	failures    below. Default: 1.
//	max_fanout  from 1 to 1,000,000: how many rows of public tables one private row may
//	            meet in a question, in all joins and subqueries together. A question in
//	            which it could be more, by the sizes of the public tables, is refused.
//	            Default: 1,000.
//	existence   from 1 to 1,000,000,000: SELECT 1 ... LIMIT 1 and EXISTS (SELECT ...) are
//	            answered by whether the noisy COUNT(*) is above this, for its price.
//	            Default: they are refused.
//	streams     columns over which very many questions are answered on one budget, by name. Default: none.
//	holdouts    data on which scores are checked again and again, by name. Default: none.
//
// # A budget
//
//	epsilon    above 0 and at most 100. Required.
//	delta      from 0, the default, to 0.01. With 0 the budget is pure, and the
//	           epsilons of all questions add up to at most epsilon. With more the
//	           rhos of all questions may add up, in its place, to at most
//	           the rho that is worth (epsilon, delta - keys_delta), which answers
//	           more questions when they are many.
//	keys_delta the part of delta that is set aside for releasing private keys: the
//	           deltas of all questions add up to at most it. From 0 to below
//	           delta. Default: half of delta where a column of a private table has
//	           keys: private, otherwise 0. With a delta of 0 it is 0, and
//	           private keys cannot be released.
//	noise      which noise questions get, and so which sums the budget is kept by.
//	           auto: each question the noise that is sharper for the same part of
//	           what is left, Laplace noise paid for in epsilon or Gaussian noise
//	           in rho; one of the two sums has to stay within its limit
//	           (account.EitherFilter). laplace: always the first, with the
//	           same limits. gaussian: the sum of rho alone. Default: auto, and gaussian
//	           where an analyst or a group has a share or an epsilon, because
//	           parts add up on each side by itself; always gaussian where the
//	           budget is renewed.
//	per_query  min is the least epsilon that a question may name. Every answer that is
//	           paid for is kept for good, so that this bounds how many there
//	           will ever be. Unless given it is the smallest epsilon, of three
//	           digits, that takes at least 1/100,000 of the budget in what that
//	           counts, which is e tanh(e/2) for a zero-concentrated one, or default where
//	           that is less; of one window's, where the budget is renewed.
//	           default is the epsilon of a question that names none: a twentieth of the
//	           budget's unless given, or max where that is less, or min where
//	           that is more. max is the
//	           largest epsilon a question may name: the whole budget's unless
//	           given. min <= default <= max <= epsilon. delta is what a question that
//	           releases private keys takes from keys_delta when it names none: a
//	           hundredth of keys_delta unless given. It may name all of it.
//	renewal    below. Default: the budget is given once, for good.
//
// Amounts are rounded down to whole units of 2^-40. All answers together, to all analysts together,
// are (epsilon, delta)-differentially private; all answers of one window, where the budget is
// renewed.
//
// # A renewal
//
//	every      day, week, month, quarter or year: how long a window is meant to
//	           be. No budget depends on a clock: a window ends when the owner
//	           begins the next one. Required.
//	windows    from 1 to 1000: how many windows there will ever be. Required.
//
// All answers of all windows together have a promise too. A pure one is windows times epsilon.
// Otherwise rho adds up to windows times the rho of one, keys_delta to windows times keys_delta,
// and the rho is converted once, at delta - keys_delta. The epsilon of all windows together is at
// most 100, and their delta at most 0.01.
//
// # An analyst
//
//	share      the part of the budget that this analyst may use, above 0 and at most 1; of rho, or of epsilon, and of keys_delta
//	           alike; of one window's, where the budget is renewed. Default: 1.
//	epsilon    the same as an amount, at most the budget's: with a delta, it is the rho that is worth it at
//	           delta - keys_delta, and keys_delta in proportion. Not together with share.
//	expires    the first day, as 2027-01-01 and in UTC, on which the analyst may not ask any more.
//
// It is a quota inside the budget, which holds against all analysts together, so shares may add up
// to more than 1: then who comes first is served first.
//
// # A group
//
//	analysts   who is in the group; a list of names that stand under the dataset's analysts. Required.
//	share      what they may use together, as an analyst's.
//	epsilon    the same as an amount, as an analyst's.
//
// An analyst may be in up to 60 groups, and is charged in each.
//
// # A release
//
// When an answer leaves the server. release: deadline, the default: when the time is over that its
// question takes at most by what everybody may know, on the next tick of a clock. release: tick: on
// the first tick after it is there, and then the clock tells how many ticks it took. release:
// immediate: as soon as it is there, and then the clock tells how long it took. The comment of
// package admission says what each leaves open. The library and the command line answer at once in
// any case.
//
//	deadline   how long a tick is, from 10ms to 60s, as a number and a unit. Without it the server chooses one when it opens the
//	           data, by how many rows all tables have together (those of sizes, where there are), rounded up to a power of ten: 100ms up to 10^5, 500ms up to 10^6,
//	           2s up to 10^7, 10s up to 10^8, and 60s beyond.
//	tick       the same, where answers leave on ticks alone.
//
// # Sizes
//
// How large the data is at most, as the owner tells everybody. When answers leave follows from it:
// the time that a question takes at most, and the length of ticks. With sizes no private row is
// counted for that, so nobody moves it; without, they are counted and rounded up, and one person
// next to a step, or with a good part of all rows, moves them. They may change at any time.
//
//	people     from 1 to 1,000,000,000,000: how many people there are. Required, and not there with unit: row, where they are the rows.
//	tables     every private table by name. Public ones are counted. Required.
//
// A table has
//
//	rows       from 1 to 1,000,000,000,000: how many rows there are. Required.
//	lengths    by column, from 1 to 1,000,000: how many bytes its texts have in the mean, NULL none. Required for all columns of type text; a
//	           column that paths use may be there, and counts with 40 bytes otherwise, where it holds texts.
//	values     by column, from 1 to 1,000,000,000,000: how many different values it has. Required for all columns with keys: private.
//
// Where the data has outgrown them questions can be late or fail; the engine's check says so.
//
// # Failures
//
// After how many questions that failed when they were charged there are no new answers, until the
// owner releases it: failures: 2, or failures: {analyst: 2, dataset: 10}. Whether a question fails
// can depend on the data. See package ledger for what counts.
//
//	analyst    of one analyst, for that analyst: from 1 to 1000. Default: 1. The number alone is this one.
//	dataset    of all analysts together, for everybody: from 1 to 1000. Default: three times as many.
//
// # A table
//
//	source      a CSV or Parquet file of its own, from the dataset's folder where
//	            the dataset's source is one, from the policy's folder otherwise.
//	trusted     true where the owner answers for what is no plain table of a PostgreSQL
//	            database: a view, a foreign table, or one with row security
//	prepared    the file in which 'discreet prepare' stores the table by person, from the
//	            policy's folder; its name ends in .duckdb. Questions read it in place of the
//	            source, and are refused where the source has changed since. For tables with
//	            many rows of a person and a column that says whose they are.
//	delimiter   one character, for CSV files. Default: a comma; a tab for .tsv.
//	encoding    for CSV files: utf-8, the default, latin-1 or windows-1252.
//	quotes      for CSV files: double, the default, where a value may stand in double quotes and a
//	            quote in it is doubled; or none, where quotes are signs like others and every
//	            line is a row. A file whose quotes are not doubled is not opened with double.
//	bad_lines   for CSV files: skip, the default, leaves lines out that are no rows (another number
//	            of values than the header's, not UTF-8, longer than 2,000,000 bytes), each by
//	            itself; refuse does not open a file that has one.
//	nulls       for CSV files: a list of up to 100 texts that stand for NULL in every column
//	            that has no nulls of its own, and in those that paths use. The empty text
//	            always does.
//	formats     for CSV files: format, below, by type, for columns that have none of their own.
//	public      whether everybody may know its rows: true, or false, the default.
//	unique      the unit's column, where nobody has more than one row. In a public
//	            table, a listed column whose values, as declared, differ in all rows.
//	path        COLUMN -> TABLE.COLUMN, from this table's column to the unit, or to
//	            the key of a private table that has a path itself, for every
//	            private table but the unit's own. It is one step; the rest of the way
//	            is that table's path, up to 32 steps.
//	max_rows    from 1 to 1,000,000: how many rows of one person count at most in
//	            one group of an answer. In a public table, how many of its rows count at
//	            most for one row that they are joined to by anything but its
//	            unique column; 1 by default.
//	max_groups  from 1 to 1,000,000: in how many groups of an answer one person
//	            counts at most.
//	limits_from data, where max_rows and max_groups were chosen by looking at the data. It
//	            changes nothing and is there to be warned about.
//	max_joined  from 1 to 100,000, for a private table where a person has many rows: how many
//	            of them are joined with other rows of the same person. Times 500 it is
//	            how many pairs they make with public rows. The others are
//	            left out. Default: 200.
//	columns     the columns by name. A column that is not listed does not exist
//	            for analysts. Required, and may be empty: {}.
//
// With unit: row no private table has unique, path, max_rows or max_groups. Otherwise every private
// table leads to the unit, and has either unique or both max_rows and max_groups; the unit's own
// table, too, may be one where a person has many rows. A table that is more than one step from the
// unit has max_rows and max_groups. Paths do not go in circles, and do not lead through public
// tables. The columns that paths use need not be listed; a listed one can be named by analysts.
//
// Privacy rests on two promises of the owner's, which the engine's check compares with the
// data: that unique is unique, and that the key at the end of a step that is not
// the unit has one row for each value. A row whose path leads to nobody counts in no answer.
//
// A public table has no path and no max_groups, and its columns have no private keys. It is
// not the unit's own.
//
// No private data has two names: two tables that are read from the same file, or from the
// same table of a database, are an error, in one dataset or in two, unless both
// are public. Here paths are compared; where the data is opened, the files themselves are.
//
// # A column
//
//	type         integer, decimal, text, boolean, date or timestamp. Required. A
//	             timestamp is in UTC, to the microsecond.
//	format       for CSV files: how values are spelt. A date or timestamp has a template in the
//	             words YYYY, YY (00 to 68 are 20..), MM, Mon, Month, DD, HH24, HH12, MI, SS, MS, US
//	             and AM, as in DD.MM.YYYY; a number is shown by how 1234.56 (or, of an integer,
//	             1234) is spelt, as in 1.234,56; a boolean has its two words, as in ja/nein. What
//	             is spelt otherwise counts as NULL. Default: as SQL does, 2020-12-31 and 1234.56.
//	nulls        for CSV files: the texts that stand for NULL in this column, in place of
//	             the table's. The empty text always does.
//	nullable     whether there may be NULL: true, the default, or false.
//	bounds       [lowest, highest] for an integer, decimal, date or timestamp. Values are
//	             moved into them. They are public: take them from what is known
//	             about the world, and not from the data. Both are whole multiples of the
//	             granularity, at most 2^53 of them away from 0. Without
//	             bounds a column can be counted and compared, not summed.
//	bounds_from  data, where the bounds or max_sum were read off the data
//	             after all. It changes nothing and is there to be warned
//	             about.
//	granularity  the step that values are rounded to: for a decimal, required
//	             with bounds; for an integer, a whole number and 1 by default.
//	             A date's is one day, a timestamp's one microsecond.
//	max_sum      what one person adds to a sum of the column in one group of an answer
//	             at most, at least the granularity: the sum of a person's rows there is
//	             clamped to it, and to its negative, and noise is calibrated to it.
//	             Unless it is given, max_rows times the bounds.
//	keys         a list of up to 10,000 values that may appear as groups, all of
//	             which then always do; or private, where which values there are is
//	             itself private. null without quotes is the group of rows
//	             without a value. A decimal has no keys.
//
// # A stream
//
//	table      a private table in which a person has one row: unit: row, or unique. Required.
//	columns    the columns that questions are about, by name, each with how it is cut, below. Required. All of their values together have
//	           at most 67,108,864 combinations, and those of all streams of a policy at most 1,000,000 values.
//	size       from 1: the number of people that alpha is a share of. It is public. Required.
//	alpha      how far an answer may be off, as a share of size: above 0 and below 1, and at least one person. Required.
//	beta       the probability that any answer is further off: from 1e-12 to below 1. Default: 0.001.
//	queries    for how many different questions beta holds: from 1 to 1,000,000,000. Default: 100,000.
//	budget     the epsilon that the stream may take of the dataset's: above 0, at most that. With a delta, it is the rho that is worth it at
//	           delta - keys_delta. Default: all of it; ordinary questions take from the same. It is given once, also where the
//	           dataset's is renewed.
//	predictor  auto, halving, ensemble or weights: what predicts answers from those that were released. Default: auto.
//
// A column of a stream needs nothing where it has a list of keys, where it is a boolean, and where
// it has bounds with at most 1000 values between them; write its name and nothing else. Otherwise
// it has bounds and one of
//
//	width      how wide a range is, from the lower bound on: a whole multiple of the granularity; days for a date; a time such as 24h for a
//	           timestamp. The last range may be narrower.
//	edges      a list of values at which a new range begins, rising: whole multiples of the granularity, above the lower bound and
//	           up to the upper.
//
// A column has 2 to 10,000 values, counted with one for NULL, where it is nullable, and with one
// for all that is not listed, where it has keys and may hold something else. So everybody is in one
// combination. A value beyond the bounds is in the first range or in the last, because it is the
// bound to every question.
//
// # A holdout
//
//	labels     a CSV file, from the policy's folder, with one row for each person. It is the file of no table, and of no holdout of another dataset.
//	column     the column of the file with the labels. Required with labels, and not there without.
//	id         the column of the file that names its rows. Default: they are named by their order.
//	table      a private table in which a person has one row: unit: row, or unique; instead of labels.
//	train      a public table with the columns of table, on which the training value is computed. Default: analysts bring it.
//	size       from 1: the number of people that scores are means over. It is public. Required with table; with labels it is how many rows the
//	           file has, which is public too.
//	threshold  from 0 to 1: how far a score may be from its training value before it is answered from the holdout, up to 12 digits after the point. Required.
//	noise      above 0, up to 1: the scale of the noise in such an answer, up to 12 digits after the point. Required.
//	answers    from 1 to 1,000,000: how many answers come from the holdout before it is used up. Required.
//	steps      from 1 to 1,000,000: values are whole multiples of 1/steps. Default: 1, right or wrong.
package policy
