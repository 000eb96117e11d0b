package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// kept prints the rows of people in the groups that are kept, and of each of them MaxRows values of an argument a0 in a group at most:
// those with the smallest salted hash. A rank among a person's groups keeps the same ones as a number among
// partials does, because the order is the same and no two groups are equal in it.
func (r *rows) kept(value, distinct string) string {
	unit := slices.Concat([]string{"u"}, r.keys)
	all := "SELECT " + distinct + strings.Join(unit, ", ") + ", " + value + " AS v FROM " + r.text()
	keep := ""
	ranks := ""
	if cuts(r.q) {
		ranks = ", dense_rank() OVER (PARTITION BY u ORDER BY " + r.order() + ") AS n"
		keep = " AND " + r.keep()
	}
	ranks += fmt.Sprintf(", row_number() OVER (PARTITION BY %s ORDER BY v IS NULL, hash(%s, %s, v), v) AS i", strings.Join(unit, ", "), r.salt(), r.person())
	return fmt.Sprintf("WITH p AS (%s), b AS (SELECT *%s FROM p%s), s AS (SELECT * FROM b WHERE v IS NOT NULL AND i <= %d%s)", all, ranks, r.onlyPublic(), r.q.MaxRows(), keep)
}

// printDistinct prints COUNT(DISTINCT ...) where somebody may have several rows.
func (s *snapshot) printDistinct(q *tree.Query, m int) statement {
	r := s.rows(q)
	r.unit()
	with := r.kept(r.argument(q.Measures[m].Arg), "DISTINCT ")
	list := append(slices.Clone(r.keys), fmt.Sprintf("count(DISTINCT v) AS m%d", m))
	return statement{text: with + " SELECT " + strings.Join(list, ", ") + " FROM s" + grouping(r.keys), args: r.printer.args, measures: []int{m}, values: -1}
}

// printValues prints the values that a quantile is of, and how often each is there.
func (s *snapshot) printValues(q *tree.Query, m int) statement {
	r := s.rows(q)
	// A value outside of what the mechanism looks among counts as the end that is nearest.
	arg := q.Measures[m].Arg
	value := clampTo("TRY_CAST("+r.argument(arg)+" AS BIGINT)", arg.Type())
	keys := append(slices.Clone(r.keys), "v")
	end := " SELECT " + strings.Join(keys, ", ") + ", count(*) FROM s" + grouping(keys)
	if !q.Bounded() {
		text := "WITH s AS (SELECT " + strings.Join(append(slices.Clone(r.keys), value+" AS v"), ", ") + " FROM " + r.text() + " WHERE v IS NOT NULL)" + end
		return statement{text: text, args: r.printer.args, values: m}
	}
	r.unit()
	return statement{text: r.kept(value, "") + end, args: r.printer.args, values: m}
}
