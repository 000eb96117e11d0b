package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Where somebody may have several rows they are cut to what counts: at most MaxGroups groups, and
// in each of them a partial within its interval. Which groups are kept depends on the person and on
// the question, and on nobody else: those with the smallest salted hash. It is the same for all
// statements of a query.

// order prints the order in which groups of a person are kept. The salt is the question's own hash:
// public, and another for every question. Where every row is a person the row's number is not in
// it: how many rows come before is about other people.
func (r *rows) order() string {
	return r.Hash(append([]string{r.salt(), r.person()}, r.keys...)...) + ", " + strings.Join(r.keys, ", ")
}

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

func (r *rows) keep() string { return "n <= " + strconv.FormatInt(r.q.MaxGroups(), 10) }

// partials prints one row for each person and group that counts, as b and what it needs before it,
// and the condition on b that the group is kept.
func (r *rows) partials(list []string) (with, keep string) {
	unit := slices.Concat([]string{"u"}, r.keys)
	partials := "SELECT " + strings.Join(slices.Concat(unit, list), ", ") + " FROM " + r.text() + Grouping(unit)
	number := ""
	if cuts(r.q) {
		number, keep = ", row_number() OVER (PARTITION BY u ORDER BY "+r.order()+") AS n", " WHERE "+r.keep()
	}
	return "WITH p AS (" + partials + "), b AS (SELECT *" + number + " FROM p" + r.publicCondition() + ")", keep
}

// personStatement prints counts and sums where somebody may have several rows: first one partial
// per (person, group), then at most MaxGroups of them a person, then the sum of what
// each is clamped to.
func (s *Schema) personStatement(q *tree.Query, measures []int, persons bool) Statement {
	r := s.rows(q)
	r.unit()
	with, keep := r.partials(r.totals(measures))
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
	return Statement{Text: text, Args: r.Args, Summed: len(q.PrivateKeys()) == 0, Measures: measures, Persons: persons, Values: -1}
}

// peopleStatement prints how many people are in each combination of private keys, where there are
// public keys too: somebody may be in several groups of one combination.
func (s *Schema) peopleStatement(q *tree.Query) Statement {
	r := s.rows(q)
	r.unit()
	with, keep := r.partials(nil)
	private := r.keys[len(q.PublicKeys()):]
	text := with + " SELECT " + strings.Join(private, ", ") + ", count(DISTINCT u) AS persons FROM b" + keep + Grouping(private)
	return Statement{Text: text, Args: r.Args, Private: true, Persons: true, Values: -1}
}

// memberStatement prints which combinations of private keys each person is in. A person is a number
// here, by which the database itself has told them apart: who they are spelled as is nothing to
// compare outside of it.
func (s *Schema) memberStatement(q *tree.Query) Statement {
	r := s.rows(q)
	r.unit()
	with, keep := r.partials(nil)
	private := strings.Join(r.keys[len(q.PublicKeys()):], ", ")
	text := with + " SELECT DISTINCT dense_rank() OVER (ORDER BY u) AS person, " + private + " FROM b" + keep
	return Statement{Text: text, Args: r.Args, Private: true, Members: true, Values: -1}
}
