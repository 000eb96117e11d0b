// Package plan turns a question in SQL into a checked tree, or refuses it. It
// reads the text and the policy and nothing else: a refusal tells nothing about
// the data, and costs nothing. This comment is the specification of what can be
// asked now.
//
// # The language
//
// The grammar is PostgreSQL's, read by PostgreSQL's own parser. A text is one SELECT
// over one table of the policy:
//
//	SELECT   keys and aggregates, with or without AS
//	FROM     one table, with or without an alias
//	WHERE    a condition on the table's columns
//	GROUP BY columns with public keys, by name, by position or by alias
//	HAVING   a condition on keys and aggregates
//	ORDER BY keys and aggregates, with ASC, DESC, NULLS FIRST, NULLS LAST
//	LIMIT    a number, with or without OFFSET
//
// The aggregates are COUNT(*), COUNT(x), SUM(x) and AVG(x), where x is an
// expression. SUM and AVG take exact numbers whose bounds follow from the
// policy. An expression is made of
//
//	columns      of the policy, and no others; no system column exists
//	constants    numbers, 'text', true, false, NULL, dates as in '2024-01-31'
//	arithmetic   + - * / % ^, where / of whole numbers truncates
//	comparisons  = <> < <= > >= BETWEEN, IN, LIKE, IS DISTINCT FROM
//	conditions   AND, OR, NOT, IS NULL, IS TRUE
//	choices      CASE, COALESCE, NULLIF, GREATEST, LEAST
//	functions    of numbers, texts, dates and timestamps: [Functions]
//	casts        CAST(x AS type), x::type
//
// docs/sql-functions.md has each of them, with what it is for NULL and outside of its
// domain. Everything else is a [Refusal], which says what to write instead. There are no
// joins, subqueries or set operations.
//
// Public keys are those that the policy lists, the two values of a boolean, and all
// lattice points between the bounds of an integer or a date, where these are not
// too many. All of them are in every answer, whether or not the data has
// them, and rows with another key are left out.
//
// # What is below the noise and what is above
//
// WHERE and the arguments of aggregates are below the noise: they see private
// rows. HAVING, ORDER BY, LIMIT and OFFSET are above it: they see released values
// only, cost nothing by themselves, and cannot name anything else. An aggregate that they name
// and that is not selected is released too, and paid for. A [Query] is the part below the
// noise and all that an engine ever sees; a [Plan] is both.
//
// # Promises
//
//  1. The tree is closed. [Expr] has fifteen kinds of node, one of which is a
//     function of a table ([Call]); an engine prints each of them and nothing else, and no
//     part of the analyst's text is in them but constants, which an engine passes as parameters.
//  2. Every expression is total: it has a value, perhaps NULL, for every row.
//     Division by zero is NULL, and so is a function outside of where it is defined:
//     a [Within] below it says where that is. Nothing overflows, and that is proven while the tree
//     is built: every number has an interval that it cannot leave ([Type]),
//     which starts from the bounds of columns or the 64 bits of their storage
//     and is carried through each operation. What could exceed 120 bits, or
//     2^900 for a floating-point number, is refused. A floating-point number
//     comes from a division, a root, a logarithm or a decimal without granularity; it can be
//     compared and is never summed, so none meets the noise. Rounding makes it
//     an exact number, row by row and clamped to what is proven, and that can be summed.
//     No row makes a function take longer than in proportion to its text, and
//     no text grows but within a bound.
//  3. A measure is a vector of integers, one for each combination of keys, and
//     [Query.Sensitivity] bounds how far one person moves it, in both norms and for both
//     kinds of neighbours. The argument stands there.
//  4. Size comes first. Length, number of words and depth are limited before the
//     parser sees the text, and again for the tree, so no text makes the planner recurse deeply.
//  5. Questions that mean the same have, in the common cases, the same
//     [Query.Hash]: constants are folded, AND and OR are flattened, sorted and
//     without repetitions, lists and keys are sorted, comparisons have one
//     direction, and names, aliases, the order of SELECT and all that is above
//     the noise are not in it. Questions with the same hash have the same exact result on
//     the same data and the same sensitivities, because the hash covers the
//     bounds, lattices, keys, unit and neighbours that they depend on.
package plan
