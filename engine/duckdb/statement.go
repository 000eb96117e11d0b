package duckdb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// print writes the whole query, and returns it with its parameters.
func (s *snapshot) print(q *plan.Query) (string, []any) {
	p := &printer{table: s.tables[q.Table.Name], used: map[string]string{}}
	st := statement{printer: p, q: q}
	for i, k := range q.Keys {
		name := fmt.Sprintf("k%d", i)
		st.keys = append(st.keys, name)
		st.list += p.column(k.Column.Name) + " AS " + name + ", "
	}
	var measures []string
	for i, m := range q.Measures {
		measures = append(measures, p.measure(m)+fmt.Sprintf(" AS m%d", i))
	}
	st.list += strings.Join(measures, ", ")
	if q.Where != nil {
		st.where = " WHERE " + p.expr(q.Where)
	}
	if q.Table.UnitKind == policy.Many {
		return st.byPerson(), p.args
	}
	return st.byRow(), p.args
}

// statement is a query on its way to text.
type statement struct {
	*printer
	q     *plan.Query
	keys  []string // the names of the keys: k0, k1, ...
	list  string   // the SELECT list of keys and measures over rows
	where string
}

// byRow prints the query where a person has one row: a plain GROUP BY.
func (s statement) byRow() string {
	list, public := s.list, ""
	if len(s.keys) > 0 {
		// Whether a key is public is looked up once a group and not once a row: the comparison
		// with the number of rows, which is always true, keeps DuckDB from moving it down.
		list += ", count(*) AS n"
		public = " WHERE (" + s.onlyPublic() + ") = (n > 0)"
	}
	groups := "SELECT " + list + " FROM " + s.source() + s.where + grouping(s.keys)
	return "WITH g AS (" + groups + ") SELECT " + s.results() + " FROM g" + public
}

// byPerson prints the query where a person may have many rows: first one partial
// per (person, group), then at most MaxGroups of them a person, then the sum of what
// each is clamped to.
func (s statement) byPerson() string {
	s.unit = true
	where := " WHERE unit IS NOT NULL"
	if s.where != "" {
		where = s.where + " AND unit IS NOT NULL"
	}
	partials := "SELECT unit AS u, " + s.list + " FROM " + s.source() + where + grouping(append([]string{"u"}, s.keys...))
	public := ""
	if len(s.keys) > 0 {
		public = " WHERE " + s.onlyPublic()
	}
	bounded, keep := "SELECT * FROM p"+public, ""
	if s.q.MaxGroups() < int64(s.q.Groups()) {
		// The salt is the question's own hash: public, and another for every question.
		salt, keys := s.arg(s.q.Hash(), "VARCHAR"), strings.Join(s.keys, ", ")
		bounded = "SELECT *, row_number() OVER (PARTITION BY u ORDER BY hash(" + salt + ", u, " + keys + "), " + keys + ") AS n FROM p" + public
		keep = " WHERE n <= " + strconv.FormatInt(s.q.MaxGroups(), 10)
	}
	var sums []string
	for i, m := range s.q.Measures {
		lo, hi := s.q.Interval(m)
		sums = append(sums, fmt.Sprintf("sum(CAST(%s AS HUGEINT)) AS m%d", clamp(fmt.Sprintf("coalesce(m%d, 0)", i), lo, hi), i))
	}
	total := "SELECT " + strings.Join(append(slices.Clone(s.keys), sums...), ", ") + " FROM b" + keep + grouping(s.keys)
	return "WITH p AS (" + partials + "), b AS (" + bounded + "), s AS (" + total + ") SELECT " + s.results() + " FROM s"
}

// results names the keys and the measures.
func (s statement) results() string {
	out := slices.Clone(s.keys)
	for i := range s.q.Measures {
		out = append(out, fmt.Sprintf("m%d", i))
	}
	return strings.Join(out, ", ")
}

// measure prints an aggregate over the rows of a group. The argument of a sum is proven
// to fit in 53 bits, so it is cast without loss, and its sum is a HUGEINT.
func (p *printer) measure(m plan.Measure) string {
	switch m.Kind {
	case plan.CountRows:
		return "count(*)"
	case plan.CountValues:
		return "count(" + p.expr(m.Arg) + ")"
	}
	return "sum(CAST(" + p.expr(m.Arg) + " AS BIGINT))"
}

// onlyPublic prints the condition that keys are public ones.
func (s statement) onlyPublic() string {
	all := make([]string, len(s.keys))
	for i, k := range s.q.Keys {
		name, c := s.keys[i], k.Column.Column
		switch {
		case c.Keys != policy.PublicKeys:
			// All values of a boolean, and all between the bounds, are public; NULL is not.
			all[i] = name + " IS NOT NULL"
		case slices.ContainsFunc(k.Values, func(v policy.Value) bool { return v.Null }):
			all[i] = "(" + name + " IN (FROM " + s.table.keysOf(c) + ") OR " + name + " IS NULL)"
		default:
			all[i] = name + " IN (FROM " + s.table.keysOf(c) + ")"
		}
	}
	return strings.Join(all, " AND ")
}

func grouping(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(keys, ", ")
}
