package duckdb

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// sumLimit is where a group's final sum is clamped, so that it is an int64.
var sumLimit = new(big.Int).Lsh(big.NewInt(1), 62)

func (s *snapshot) run(ctx context.Context, q *plan.Query) ([]exact.Vector, error) {
	text, args := s.print(q)
	return s.execute(ctx, q, text, args)
}

// execute runs a printed query. It is apart from run so that tests can plant a
// mistake between the two.
func (s *snapshot) execute(ctx context.Context, q *plan.Query, text string, args []any) ([]exact.Vector, error) {
	rows, err := s.db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, ErrRun
	}
	defer rows.Close()
	index := groupIndex(q)
	out := make([][]int64, len(q.Measures))
	for i := range out {
		out[i] = make([]int64, q.Groups())
	}
	keys := make([]any, len(q.Keys))
	sums := make([]int64, len(q.Measures))
	cells := make([]any, 0, len(keys)+len(sums))
	for i := range keys {
		cells = append(cells, &keys[i])
	}
	for i := range sums {
		cells = append(cells, &sums[i])
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return nil, ErrRun
		}
		g, ok := index(keys)
		if !ok {
			continue // not a public key
		}
		for m := range out {
			out[m][g] = sums[m]
		}
	}
	if rows.Err() != nil {
		return nil, ErrRun
	}
	sealed := make([]exact.Vector, len(out))
	for i := range out {
		sealed[i] = exact.Seal(out[i])
	}
	return sealed, nil
}

// print writes the whole query.
func (s *snapshot) print(q *plan.Query) (string, []any) {
	p := &printer{table: s.tables[q.Table.Name], used: map[string]string{}}
	keys := make([]string, len(q.Keys))
	var keyList, keyNames string
	for i, k := range q.Keys {
		keys[i] = fmt.Sprintf("k%d", i)
		keyList += p.column(k.Column.Name) + " AS " + keys[i] + ", "
		keyNames += keys[i] + ", "
	}
	where := ""
	if q.Where != nil {
		where = " WHERE " + p.expr(q.Where)
	}
	measures := make([]string, len(q.Measures))
	for i, m := range q.Measures {
		measures[i] = p.measure(m) + fmt.Sprintf(" AS m%d", i)
	}
	list := strings.Join(measures, ", ")
	if q.Table.UnitKind != policy.Many {
		// Whether a key is public is looked up once a group and not once a row: the comparison
		// with the number of rows, which is always true, keeps DuckDB from moving it down.
		public := ""
		if len(keys) > 0 {
			list += ", count(*) AS n"
			public = " WHERE (" + p.onlyPublic(q) + ") = (n > 0)"
		}
		groups := "SELECT " + keyList + list + " FROM " + p.source() + where + grouping(keys)
		return "WITH g AS (" + groups + ") SELECT " + keyNames + p.finals(q) + " FROM g" + public, p.args
	}

	// One partial per (person, group).
	p.unit = true
	if where == "" {
		where = " WHERE "
	} else {
		where += " AND "
	}
	where += "unit IS NOT NULL"
	partials := "SELECT unit AS u, " + keyList + list + " FROM " + p.source() + where + grouping(append([]string{"u"}, keys...))
	public := ""
	if len(keys) > 0 {
		public = " WHERE " + p.onlyPublic(q)
	}
	bounded, keep := "SELECT * FROM p"+public, ""
	if q.MaxGroups() < int64(q.Groups()) {
		// The salt is the question's own hash: public, and another for every question.
		salt := p.arg(q.Hash(), "VARCHAR")
		bounded = "SELECT *, row_number() OVER (PARTITION BY u ORDER BY hash(" + salt + ", u, " + strings.Join(keys, ", ") + "), " +
			strings.Join(keys, ", ") + ") AS n FROM p" + public
		keep = " WHERE n <= " + strconv.FormatInt(q.MaxGroups(), 10)
	}
	var sums []string
	for i, m := range q.Measures {
		lo, hi := q.Interval(m)
		sums = append(sums, fmt.Sprintf("sum(CAST(%s AS HUGEINT)) AS m%d", clamp(fmt.Sprintf("coalesce(m%d, 0)", i), lo, hi), i))
	}
	return "WITH p AS (" + partials + "), b AS (" + bounded + "), s AS (SELECT " + keyNames + strings.Join(sums, ", ") + " FROM b" + keep + grouping(keys) + ")" +
		" SELECT " + keyNames + p.finals(q) + " FROM s", p.args
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

// finals prints the clamp of every final sum to what an int64 holds.
func (p *printer) finals(q *plan.Query) string {
	out := make([]string, len(q.Measures))
	for i := range out {
		out[i] = "CAST(" + clamp(fmt.Sprintf("coalesce(m%d, 0)", i), new(big.Int).Neg(sumLimit), sumLimit) + " AS BIGINT)"
	}
	return strings.Join(out, ", ")
}

// onlyPublic prints the condition that keys are public ones.
func (p *printer) onlyPublic(q *plan.Query) string {
	var all []string
	for i, k := range q.Keys {
		name := fmt.Sprintf("k%d", i)
		if c := k.Column.Column; c.Keys != policy.PublicKeys {
			// All values of a boolean, and all between the bounds, are public; NULL is not.
			all = append(all, name+" IS NOT NULL")
			continue
		}
		var list []string
		null := "false"
		for _, v := range k.Values {
			switch {
			case v.Null:
				null = name + " IS NULL"
			case v.Type == policy.Text:
				list = append(list, p.arg(v.Text, "VARCHAR"))
			case v.Type == policy.Boolean:
				list = append(list, p.arg(v.Bool(), "BOOLEAN"))
			default:
				list = append(list, p.arg(v.Int, "BIGINT"))
			}
		}
		if len(list) == 0 {
			list = []string{"NULL"}
		}
		all = append(all, "("+name+" IN ("+strings.Join(list, ", ")+") OR "+null+")")
	}
	return strings.Join(all, " AND ")
}

func grouping(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(keys, ", ")
}

// groupIndex returns a function from key values as DuckDB returns them to the
// group's place in the result.
func groupIndex(q *plan.Query) func([]any) (int, bool) {
	places := make([]map[any]int, len(q.Keys))
	for i, k := range q.Keys {
		places[i] = map[any]int{}
		for j, v := range k.Values {
			switch {
			case v.Null:
				places[i][nil] = j
			case v.Type == policy.Text:
				places[i][v.Text] = j
			case v.Type == policy.Boolean:
				places[i][v.Bool()] = j
			default:
				places[i][v.Int] = j
			}
		}
	}
	return func(keys []any) (int, bool) {
		g := 0
		for i, k := range keys {
			if n, ok := k.(int32); ok {
				k = int64(n)
			}
			j, ok := places[i][k]
			if !ok {
				return 0, false
			}
			g = g*len(q.Keys[i].Values) + j
		}
		return g, true
	}
}
