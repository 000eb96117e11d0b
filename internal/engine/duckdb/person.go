package duckdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Where somebody may have several rows they are cut to what counts: at most MaxGroups groups, and in each of them a partial within
// its interval. Which groups are kept depends on the person and on the question, and on nobody else: those with
// the smallest salted hash. It is the same for all statements of a query.

// order prints the order in which groups of a person are kept. The salt is the question's own hash: public, and another for
// every question. Where every row is a person the row's number is not in it: how many rows come before
// is about other people.
func (r *rows) order() string {
	keys := strings.Join(r.keys, ", ")
	return "hash(" + r.salt() + ", " + r.person() + ", " + keys + "), " + keys
}

func (r *rows) salt() string { return r.arg(r.q.Hash(), "VARCHAR") }

func (r *rows) person() string {
	if r.byRow {
		return "u.h"
	}
	return "u"
}

// cuts reports whether somebody can be in more groups than count.
func cuts(q *tree.Query) bool {
	return len(q.PrivateKeys()) > 0 || q.MaxGroups() < int64(q.Groups())
}

func (r *rows) keep() string { return "n <= " + strconv.FormatInt(r.q.MaxGroups(), 10) }

// partials prints one row for each person and group that counts, as b and what it needs before it, and the condition
// on b that the group is kept.
func (r *rows) partials(list []string) (with, keep string) {
	unit := slices.Concat([]string{"u"}, r.keys)
	partials := "SELECT " + strings.Join(slices.Concat(unit, list), ", ") + " FROM " + r.text() + grouping(unit)
	number := ""
	if cuts(r.q) {
		number, keep = ", row_number() OVER (PARTITION BY u ORDER BY "+r.order()+") AS n", " WHERE "+r.keep()
	}
	return "WITH p AS (" + partials + "), b AS (SELECT *" + number + " FROM p" + r.onlyPublic() + ")", keep
}

// printByPerson prints counts and sums where somebody may have several rows: first one partial
// per (person, group), then at most MaxGroups of them a person, then the sum of what
// each is clamped to.
func (s *snapshot) printByPerson(q *tree.Query, measures []int, persons bool) statement {
	r := s.rows(q)
	r.unit()
	with, keep := r.partials(r.totals(measures))
	list, results := slices.Clone(r.keys), append(slices.Clone(r.keys), names(measures)...)
	for _, m := range measures {
		lo, hi := q.Interval(q.Measures[m])
		list = append(list, fmt.Sprintf("sum(CAST(%s AS HUGEINT)) AS m%d", clamp(fmt.Sprintf("coalesce(m%d, 0)", m), lo, hi), m))
	}
	if persons {
		list, results = append(list, "count(*) AS persons"), append(results, "persons")
	}
	text := with + ", s AS (SELECT " + strings.Join(list, ", ") + " FROM b" + keep + grouping(r.keys) + ") SELECT " + strings.Join(results, ", ") + " FROM s"
	return statement{text: text, args: r.printer.args, summed: len(q.PrivateKeys()) == 0, measures: measures, persons: persons, values: -1}
}

// printPersons prints how many people are in each combination of private keys, where there are public keys too: somebody may
// be in several groups of one combination.
func (s *snapshot) printPersons(q *tree.Query) statement {
	r := s.rows(q)
	r.unit()
	with, keep := r.partials(nil)
	private := r.keys[len(q.PublicKeys()):]
	text := with + " SELECT " + strings.Join(private, ", ") + ", count(DISTINCT u) AS persons FROM b" + keep + grouping(private)
	return statement{text: text, args: r.printer.args, private: true, persons: true, values: -1}
}
