package dialect

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Where somebody may have several rows they are cut to what counts: at most MaxGroups groups, and
// in each of them a partial within its interval. Which groups are kept depends on the person and on
// the question, and on nobody else: those with the smallest salted hash. It is the same for all
// statements of a query.

func (r *rows) salt() string { return r.arg(r.q.Hash(), r.Text) }

// person prints what a choice among the rows of a person u may know about who that is.
func (p *Printer) person() string {
	if p.ByRow {
		return p.RowHash
	}
	return "u"
}

// cuts reports whether somebody can be in more groups than count.
func cuts(q *tree.Query) bool {
	return len(q.PrivateKeys()) > 0 || q.MaxGroups() < int64(q.Groups())
}

// groups are the partials of which each person keeps some, with what else is kept of each.
func (r *rows) groups(rest []Kept) Groups {
	g := Groups{Rest: rest}
	var what []Ranked
	for i, name := range r.keys {
		g.Keys, what = append(g.Keys, Kept{Name: name, Type: r.keyType(i)}), append(what, Ranked{name, r.keyType(i)})
	}
	if r.placed {
		g.Keys[0] = r.Dialect.kept("g", new(big.Int), big.NewInt(int64(max(r.q.Groups(), 1)-1)))
	}
	if cuts(r.q) {
		g.Rank, g.Max = r.rank(what...), r.q.MaxGroups()
	}
	return g
}

// keyType is the type of a key as it is printed.
func (r *rows) keyType(i int) string {
	if r.placed && i == 0 {
		return PlaceType
	}
	return r.holder(r.q.Keys[len(r.q.Keys)-len(r.keys)+i].Expr.Type())
}

// partials prints one row for each person and group that counts, as b and what it needs before it,
// the condition on b that the group is kept, and the number of a person.
func (r *rows) partials(list []string, rest []Kept, number bool) (with, keep, who string) {
	unit := slices.Concat([]string{"u"}, r.keys)
	partials := "SELECT " + strings.Join(slices.Concat(unit, list), ", ") + " FROM " + r.text() + r.placedCondition() + Grouping(unit)
	g := r.groups(rest)
	g.From, g.Number = "p"+r.publicCondition(), number
	b, keep, who := r.Groups(g)
	return r.ByPerson + "WITH p AS (" + partials + "), b AS (" + b + ")", keep, who
}

// personStatement prints counts and sums where somebody may have several rows: first one partial
// per (person, group), then at most MaxGroups of them a person, then the sum of what
// each is clamped to.
func (s *Schema) personStatement(q *tree.Query, measures []int, persons bool) Statement {
	r := s.rows(q)
	r.unit()
	var rest []Kept
	for _, m := range measures {
		lo, hi := q.Interval(q.Measures[m])
		rest = append(rest, s.Dialect.kept(fmt.Sprintf("m%d", m), lo, hi))
	}
	with, keep, _ := r.partials(r.totals(measures), rest, false)
	list, results := slices.Clone(r.keys), append(slices.Clone(r.keys), names(measures)...)
	for _, m := range measures {
		lo, hi := q.Interval(q.Measures[m])
		list = append(list, fmt.Sprintf("%s AS m%d", s.sum(s.clamp(fmt.Sprintf("coalesce(m%d, 0)", m), lo, hi), lo, hi, true, true), m))
	}
	if persons {
		list, results = append(list, "count(*) AS persons"), append(results, "persons")
	}
	text := with + ", s AS (SELECT " + strings.Join(list, ", ") + " FROM b" + keep + Grouping(r.keys) + ") SELECT " +
		strings.Join(results, ", ") + " FROM s"
	return Statement{Text: text, Args: r.Args, Summed: len(q.PrivateKeys()) == 0, Measures: measures, Persons: persons,
		Placed: r.placed, Values: -1}
}

// peopleStatement prints how many people are in each combination of private keys, where there are
// public keys too: somebody may be in several groups of one combination.
func (s *Schema) peopleStatement(q *tree.Query) Statement {
	r := s.rows(q)
	r.unit()
	with, keep, _ := r.partials(nil, nil, false)
	private := r.keys[len(r.keys)-len(q.PrivateKeys()):]
	text := with + " SELECT " + strings.Join(private, ", ") + ", count(DISTINCT u) AS persons FROM b" + keep + Grouping(private)
	return Statement{Text: text, Args: r.Args, Private: true, Persons: true, Values: -1}
}

// memberStatement prints which combinations of private keys each person is in. A person is a number
// here, by which the database itself has told them apart: who they are spelled as is nothing to
// compare outside of it.
func (s *Schema) memberStatement(q *tree.Query) Statement {
	r := s.rows(q)
	r.unit()
	with, keep, who := r.partials(nil, nil, true)
	private := strings.Join(r.keys[len(r.keys)-len(q.PrivateKeys()):], ", ")
	text := with + " SELECT DISTINCT " + who + " AS person, " + private + " FROM b" + keep
	return Statement{Text: text, Args: r.Args, Private: true, Members: true, Values: -1}
}
