package dialect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// values prints the rows of people in the groups that are kept, and of each of them MaxRows
// values of an argument in a group at most: those with the smallest rank.
func (r *rows) values(value, typ, distinct string) string {
	unit := slices.Concat([]string{"u"}, r.keys)
	all := "SELECT " + distinct + strings.Join(unit, ", ") + ", " + value + " AS v FROM " + r.text() + r.placedCondition()
	v := Values{Groups: r.groups(nil), Rows: r.q.MaxRows(), Of: r.rank(Ranked{"v", typ})}
	v.From = "p" + r.publicCondition()
	return r.ByPerson + "WITH p AS (" + all + "), " + r.Values(v)
}

// distinctStatement prints COUNT(DISTINCT ...) where somebody may have several rows.
func (s *Schema) distinctStatement(q *tree.Query, m int) Statement {
	r := s.rows(q)
	r.unit()
	arg := q.Measures[m].Arg
	with := r.values(r.argument(arg), r.holder(arg.Type()), "DISTINCT ")
	list := append(slices.Clone(r.keys), fmt.Sprintf("count(DISTINCT v) AS m%d", m))
	return Statement{Text: with + " SELECT " + strings.Join(list, ", ") + " FROM s" + Grouping(r.keys), Args: r.Args,
		Measures: []int{m}, Placed: r.placed, Values: -1}
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
		return Statement{Text: text, Args: r.Args, Placed: r.placed, Values: m}
	}
	r.unit()
	with := r.values(value, r.Int64, "")
	return Statement{Text: with + end, Args: r.Args, Placed: r.placed, Values: m}
}
