package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// kept prints the rows of people in the groups that are kept, and of each of them MaxRows values of
// an argument a0 in a group at most: those with the smallest salted hash. A rank among a person's
// groups keeps the same ones as a number among partials does, because the order is the same and no
// two groups are equal in it.
func (r *rows) kept(value, distinct string) string {
	unit := slices.Concat([]string{"u"}, r.keys)
	all := "SELECT " + distinct + strings.Join(unit, ", ") + ", " + value + " AS v FROM " + r.text()
	keep := ""
	ranks := ""
	if cuts(r.q) {
		ranks = ", dense_rank() OVER (PARTITION BY u ORDER BY " + r.order() + ") AS n"
		keep = " AND " + r.keep()
	}
	ranks += fmt.Sprintf(", row_number() OVER (PARTITION BY %s ORDER BY v IS NULL, %s, v) AS i", strings.Join(unit, ", "),
		r.Hash(r.salt(), r.person(), "v"))
	return fmt.Sprintf("WITH p AS (%s), b AS (SELECT *%s FROM p%s), s AS (SELECT * FROM b WHERE v IS NOT NULL AND i <= %d%s)",
		all, ranks, r.publicCondition(), r.q.MaxRows(), keep)
}

// distinctStatement prints COUNT(DISTINCT ...) where somebody may have several rows.
func (s *Schema) distinctStatement(q *tree.Query, m int) Statement {
	r := s.rows(q)
	r.unit()
	with := r.kept(r.argument(q.Measures[m].Arg), "DISTINCT ")
	list := append(slices.Clone(r.keys), fmt.Sprintf("count(DISTINCT v) AS m%d", m))
	return Statement{Text: with + " SELECT " + strings.Join(list, ", ") + " FROM s" + Grouping(r.keys), Args: r.Args,
		Measures: []int{m}, Values: -1}
}

// valueStatement prints the values that a quantile is of, and how often each is there.
func (s *Schema) valueStatement(q *tree.Query, m int) Statement {
	r := s.rows(q)
	// A value outside of what the mechanism looks among counts as the end that is nearest.
	arg := q.Measures[m].Arg
	value := r.clampTo(r.TryCast(r.argument(arg), r.Int64), arg.Type())
	keys := append(slices.Clone(r.keys), "v")
	end := " SELECT " + strings.Join(keys, ", ") + ", count(*) FROM s" + Grouping(keys)
	if !q.Bounded() {
		list := append(slices.Clone(r.keys), value+" AS v")
		text := "WITH s AS (SELECT * FROM (SELECT " + strings.Join(list, ", ") + " FROM " + r.text() + ") WHERE v IS NOT NULL)" + end
		return Statement{Text: text, Args: r.Args, Values: m}
	}
	r.unit()
	with := r.kept(value, "")
	return Statement{Text: with + end, Args: r.Args, Values: m}
}
