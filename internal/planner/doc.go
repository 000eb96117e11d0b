// Package planner turns a question in SQL into a checked tree, or refuses it. It reads the text and
// the policy and nothing else: a refusal tells nothing about the data, and costs nothing. This
// comment is the specification; docs/sql.md is the same for analysts, with examples.
//
// # The language
//
// The grammar is PostgreSQL's, read by PostgreSQL's own parser. A text is one SELECT. A SELECT with
// aggregates over tables of the policy is a question, and is paid for:
//
//	WITH     subqueries with names
//	SELECT   keys, aggregates, expressions of them, and windows over them
//	FROM     tables, views of the policy, subqueries of rows, joins
//	WHERE    a condition on rows
//	GROUP BY columns and expressions, by name, by position or by alias; ROLLUP, CUBE, GROUPING SETS
//	HAVING   a condition on keys and aggregates
//	ORDER BY keys and aggregates, with ASC, DESC, NULLS FIRST, NULLS LAST
//	LIMIT    a number, with or without OFFSET
//
// A SELECT over such SELECTs, in FROM or WITH or as values, is about answers: it is free, may be
// anything that the engine for answers runs (package engine/postquery), and sees nothing else but
// public tables, which may stand there alone ([Statement]).
//
// Each set of GROUP BY is a question of its own, and those of one are one answer (key.go).
// An answer that is joined with rows, on what both are grouped by, chooses among their groups: all
// of them are bought (question.go).
//
// The aggregates are COUNT(*), COUNT(x), COUNT(DISTINCT x), SUM, AVG, VARIANCE, VAR_POP, VAR_SAMP,
// STDDEV, STDDEV_POP, STDDEV_SAMP, MEDIAN, PERCENTILE_CONT, PERCENTILE_DISC, and MIN and MAX, which
// are the 1 % and the 99 % quantile; each with FILTER (WHERE ...). dp_low(a), dp_high(a) and
// dp_error(a) are the ends of an aggregate's interval and half its width. Sums, averages, variances
// and quantiles take exact numbers whose bounds follow from the policy by interval arithmetic. What
// is named twice is released once.
//
// Two kinds of SELECT ask for nothing of the data. One without aggregates over public keys lists
// them ([tree.Query.ListsKeys]). One that has no rows, by LIMIT 0 or a WHERE that is false of
// constants, has columns alone (Statement.Empty, level.go); then * stands for the listed columns.
//
// A SELECT that only asks whether there are rows is one with HAVING COUNT(*) > threshold, where the
// owner has said which (existence.go). Any other SELECT of rows is refused, and its columns are
// described ([DescribeRows]).
//
// SELECT holdout_mean(expression [, training]) FROM table is a question to a holdout of the policy
// and none of these: it stands alone, has its own price, and is checked by [PrepareHoldout].
//
// Rows to train on are a SELECT without aggregates, with a target beside it, checked by
// [PrepareTable]: every column has public bounds or public values, and all of it is as far below
// the noise as WHERE is. A [tree.Table] is all that an engine sees of it.
//
// Expressions and functions are those of docs/sql-functions.md.
//
// # Parameters
//
// $1, $2, ... are not in the language of questions. [syntax.Text.Bind] puts their values into what
// was read of a text before it is prepared, as constants; no value is read as SQL. A view has none.
//
// # Keys
//
// The values of a key are public where they follow from the policy (listed keys, the two values of
// a boolean, all lattice points between the bounds of a number or a time), from WHERE (a list, as
// in x IN (...), or a range, as in x >= a AND x < b), from a public table, or from the expression
// (a CASE between constants, or any function of columns with public values or ends). Subqueries
// pass on what is known of their columns. All of them are in every answer, whether or not
// the data has them, and rows with another key are left out. Otherwise they are private where the
// owner has written keys: private: then a mechanism decides which may be shown. What is computed
// from a column that says who a row is about is no key.
//
// SELECT keys ... GROUP BY keys ORDER BY aggregate LIMIT k, where the aggregate is not selected and
// the keys are public, is a choice ([tree.Choice]): the best groups are chosen, and no aggregate is
// released.
//
// # Who a row is about
//
// Every row of a private [tree.Relation] belongs to one person. The relation knows whose it is by
// an identity, which is a column of the policy as it is stored, and which no expression can make: a
// name is not an identity, and a computed column is none. Two private relations are joined only on
// an identity: on the unit, or on a row that both are a part of, along the policy's paths. A
// subquery in a condition is over public tables, or is linked by an identity to the row that asks.
// So all rows that are put together are one person's, and the whole of a question is a sum over
// people of something that depends on one person's rows alone, which is cut to MaxRows and
// MaxGroups after the last join. LIMIT, DISTINCT, windows, UNION without ALL and aggregates below
// the noise would let one person's row decide about another's, and are refused; a subquery that is
// grouped by the person itself ([tree.Persons]), or whose windows are partitioned by the person
// ([tree.Window]), does not: the rows that it has of a person are a function of that person's rows,
// so a person who comes or goes brings or takes those alone.
//
// # What is below the noise and what is above
//
// WHERE, joins and the arguments of aggregates are below the noise: they see private rows. HAVING,
// ORDER BY, LIMIT and OFFSET, expressions of aggregates and outer SELECTs are above it: they see
// released values only, cost nothing by themselves, and cannot name anything else. An aggregate
// that they name and that is not selected is released too, and paid for. A [tree.Query] is the part
// below the noise and all that an engine ever sees; a [tree.Plan] is both.
//
// # Packages and passes
//
// The planner stands on packages of its own: tree is the finished tree and what it claims, syntax
// the text and its parameters, expr builds expressions with their intervals and has the table of
// functions, and cells, above all of this, knows what answers have to do with each other. Package
// verify shares nothing but the tree. A question goes through these passes:
//
//  1. Read ([syntax.Open], once): the text is within the limits, so nobody recurses deep, and is
//     one SELECT of PostgreSQL's grammar. Values of parameters are constants in its tree.
//  2. Level (level.go): each SELECT is about rows, which is a question, or about answers, which is
//     free and is lifted above (statement.go). None is about both.
//  3. Names (names.go): every name is a table of the policy, a view, a WITH, or a column of one in
//     sight. Nothing else can be named.
//  4. Rows (rows.go, from.go, join.go, union.go, subquery.go, condition.go, persons.go, window.go):
//     whose each row is. Rows that are put together are one person's, and how many of one person
//     there can be is known. The result is a rowScope.
//  5. Expressions (expression.go, operator.go, time.go, package expr), wherever one stands: every
//     one is total, and every number has an interval that it cannot leave. What names mean there is
//     said by a scope: rows, one person's rows, or what is released.
//  6. Keys (key.go, domain.go, fielddomain.go, publickeys.go, axis.go of package expr): the groups are
//     public, or a mechanism decides about them. The result is groups.
//  7. Contributions (contribution.go): in how many groups one person counts, and with how many rows.
//     Keys that are functions of the person are one group a person.
//  8. Aggregates (aggregate.go, measure.go): each is a measure of integers with declared bounds,
//     named twice released once. The result is releases.
//  9. Answer (answer.go): what is made of them and shown. The result is an answer.
//  10. Tree (placement.go, assemble.go, package expr): averages get their sums and counts, and
//     questions that mean the same have one hash. Then everything below the noise is proven to be
//     total and somebody's once more, by a look at the whole tree that does not depend on the passes
//     before. The result is a [tree.Plan].
//  11. Work (engine.go, worksize.go, work.go): how long an engine can take follows from the policy
//     and public tables, people with many rows are cut before a join, and what the engine cannot be
//     asked is refused ([policy.EngineLimits]).
//
// question.go takes a question from the third to the last, and answerwindow.go one with windows
// over its answer; statement.go does so for a text, holdout.go for a question to a holdout,
// table.go for rows to train on. Each pass knows those before it and none after: a test holds the
// files to that.
//
// # Promises
//
//  1. The trees are closed. An engine prints each kind of [tree.Expr] and of [tree.Relation]
//     and nothing else, and no part of the analyst's text is in them but
//     constants, which an engine passes as parameters.
//  2. Every expression is total: it has a value, perhaps NULL, for every row.
//     Division by zero is NULL. Nothing overflows, and that is proven while the tree
//     is built: every number has an interval that it cannot leave ([tree.Type]),
//     which starts from the bounds of columns or the 64 bits of their storage
//     and is carried through each operation. What could exceed 120 bits, or
//     2^900 for a floating-point number, is refused. A floating-point number can be
//     compared, or rounded row by row to a lattice, and is never summed, so none meets the noise.
//  3. A measure is a vector of integers, one for each combination of keys, and
//     [tree.Query.Sensitivity] bounds how far one person moves it, in both norms and for both
//     kinds of neighbours. The argument stands there.
//  4. Work is bounded. Nobody pays for planning, so everything that it does over and over is counted
//     by a [meter.Meter] before it is done: expressions that are computed, by their nodes, texts and
//     patterns (package expr), points on an axis, combinations of values, nodes that
//     are written down and compared, patterns that are compiled, and what the second check, the
//     price and memory do with the finished tree. A text that takes more than [meter.MostTime] or
//     [meter.MostBytes] is refused. Steps are counted and no clock is read, so whether it is follows
//     from the text, the policy and public tables. A key whose values take more than three quarters
//     of that has none that are known: they can be listed in WHERE. The context is looked at after
//     each millisecond of work, so planning ends with it. What is computed of released values is
//     bounded too, before it is paid for (answer.go).
//  5. Size comes first. Length, number of words and depth are limited before the parser sees the
//     text, and again for the tree, so no text makes the planner recurse deeply. Names of WITH and
//     views are replaced by what they stand for, and how often is limited too.
//  6. Questions that mean the same have, in the common cases, the same [tree.Query.Hash]: constants
//     are folded, AND and OR are flattened, sorted and without repetitions, lists and keys are
//     sorted, comparisons have one direction, and names, aliases, the order of SELECT and all that
//     is above the noise are not in it. Questions with the same hash have the same exact result on
//     the same data, because the hash covers the bounds, lattices, keys, unit, paths and neighbours
//     that it depends on. The sensitivities that are found for each hold for all of them; one
//     spelling may be given a tighter one than another.
package planner
