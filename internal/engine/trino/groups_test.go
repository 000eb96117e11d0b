package trino

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// people have from one row to forty, in up to twelve groups of which ten are public. One has very
// many rows.
type people struct {
	schema
	rows [][]any // u, name, g, i, k, v
}

const peopleKeys = `
unit: t.UNIT
tables:
  t:
    max_rows: 4
    max_groups: 3
    columns:
      g: {type: text, keys: [a, b, c, d, e, "f'", g, h, ü, null]}
      i: {type: integer, bounds: [0, 30], keys: [3, 4, 5, 9]}
      k: {type: text, keys: private, nullable: true}
      v: {type: integer, bounds: [-50, 1000]}
      w: {type: integer, bounds: [-1000000000, 1000000000]}
`

func newPeople(t testing.TB, count int) people {
	dice := rand.New(rand.NewPCG(1, 2))
	p := people{schema: newSchema(t, "memory")}
	groups := []any{"a", "b", "c", "d", "e", "f'", "g", "h", "ü", nil, "x", "y"}
	add := func(u int64) {
		var v any = int64(dice.IntN(1200) - 100)
		if dice.IntN(10) == 0 {
			v = nil
		}
		p.rows = append(p.rows, []any{u, fmt.Sprint("p", u), groups[dice.IntN(len(groups))], int64(3 + dice.IntN(5)),
			groups[dice.IntN(9)], v, int64(dice.IntN(4000000000)) - 2000000000})
	}
	for range count {
		u := int64(dice.Uint64() >> dice.IntN(64))
		for range 1 + dice.IntN(40) {
			add(u)
		}
	}
	for range 5 {
		p.rows = append(p.rows, []any{nil, nil, "a", int64(3), "a", int64(7), int64(1)})
	}
	p.Run(t, "CREATE TABLE "+p.table("t")+" (u bigint, name varchar, g varchar, i integer, k varchar, v bigint, w bigint)")
	p.insert(t, "t", p.rows)
	return p
}

func (s schema) insert(t testing.TB, table string, rows [][]any) {
	for start := 0; start < len(rows); start += 1000 {
		var values []string
		for _, r := range rows[start:min(start+1000, len(rows))] {
			cells := make([]string, len(r))
			for i, v := range r {
				cells[i] = sqlValue(v)
			}
			values = append(values, "("+strings.Join(cells, ", ")+")")
		}
		s.Run(t, "INSERT INTO "+s.table(table)+" VALUES "+strings.Join(values, ", "))
	}
}

// rankOf is what rank prints, in Go.
func rankOf(parts ...any) uint64 {
	var h uint64
	for i, p := range parts {
		switch p := p.(type) {
		case string:
			h ^= xxhash.Sum64String(p)
		case int64:
			h ^= uint64(p)
		case nil:
			h ^= 7046029254386353131
		}
		if i > 1 { // the first two are the person and the salt
			h = xxhash.Sum64(binary.BigEndian.AppendUint64(nil, h))
		}
	}
	return h
}

// order is the choice of Trino's statements about this query, for the reference.
func order(q *tree.Query) func(hash, person, what string) uint64 {
	return func(hash, person, what string) uint64 {
		var who any
		if text, err := strconv.Unquote(person); err == nil {
			who = text
		} else if u, err := strconv.ParseInt(person, 10, 64); err == nil {
			who = u
		}
		place, rest, _ := strings.Cut(what, " ")
		g, _ := strconv.ParseInt(place, 10, 64)
		private := len(q.PrivateKeys()) > 0
		switch {
		case private:
			parts := []any{who, hash}
			if len(q.PublicKeys()) > 0 {
				parts = append(parts, g*1099511627689)
			}
			key, _ := strconv.Unquote(strings.TrimSuffix(rest, " "))
			if key == "<nil>" {
				return rankOf(append(parts, nil)...) ^ 1<<63
			}
			return rankOf(append(parts, key)...) ^ 1<<63 // Trino's numbers have a sign
		case rest == "":
			return rankOf(who, hash, g*1099511627689)&(1<<rankBits-1)<<32 | uint64(g)
		}
		var value any = rest
		if v, _, ok := strings.Cut(rest, " "); ok {
			n, _ := strconv.ParseInt(v, 10, 64)
			value = n
		}
		return rankOf(who, hash, value) ^ 1<<63
	}
}

// bounded are questions about people, who have more than counts.
var bounded = []string{
	"SELECT COUNT(*) FROM t", "SELECT SUM(v), COUNT(v), COUNT(DISTINCT %s) FROM t WHERE i > 3",
	"SELECT g, COUNT(*), SUM(v) FROM t GROUP BY g", "SELECT g, COUNT(DISTINCT %s) FROM t GROUP BY g",
	"SELECT g, COUNT(*), SUM(v), SUM(v * v), SUM(w), SUM(w * v) FROM t GROUP BY g", "SELECT i, AVG(v) FROM t GROUP BY i",
	"SELECT g, i, SUM(-v) FROM t WHERE v < 500 GROUP BY g, i", "SELECT g, MEDIAN(v), COUNT(*) FROM t GROUP BY g",
	"SELECT g, COUNT(DISTINCT k) FROM t GROUP BY g", "SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k",
	"SELECT k, i, COUNT(*) FROM t GROUP BY k, i", "SELECT k, COUNT(DISTINCT %s) FROM t GROUP BY k",
}

func (p people) table1() map[string]reference.Table {
	return map[string]reference.Table{"t": {Columns: []string{"u", "name", "g", "i", "k", "v", "w"}, Rows: p.rows}}
}

// TestGroups: what is kept of people who have too much is what the reference keeps, to the last
// integer, whether lists are of numbers or of rows, or there are none, and people numbers or texts.
func TestGroups(t *testing.T) {
	p := newPeople(t, 120)
	was := longestList
	t.Cleanup(func() { longestList = was })
	for unit, list := range map[string]int64{"u": was, "name": was, "u ": 2} {
		longestList, unit = list, strings.TrimSpace(unit)
		ds := p.dataset(t, strings.ReplaceAll(peopleKeys, "UNIT", unit))
		e, ref := open(t, ds), reference.New(ds, p.table1())
		for _, text := range bounded {
			if strings.Contains(text, "%s") {
				text = fmt.Sprintf(text, unit)
			}
			q := &prepare(t, ds, text).Query
			ref.Order = order(q)
			want, _ := ref.Run(t.Context(), q)
			got, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", text, why(t, e, q))
			}
			if a, b := opened(got), opened(want); !reflect.DeepEqual(a, b) {
				t.Errorf("%s by %s:\n%v, and the reference\n%v\n%s", text, unit, a, b, e.Current().Statements(q)[0].Text)
			}
		}
	}
}

// TestLongLists: limits that are longer than Trino's lists end no question where there is a row.
func TestLongLists(t *testing.T) {
	p := newPeople(t, 5)
	keys := strings.NewReplacer("UNIT", "u", "max_rows: 4", "max_rows: 10001", "max_groups: 3", "max_groups: 10001").Replace(peopleKeys)
	ds := p.dataset(t, keys)
	e := open(t, ds)
	for _, text := range []string{
		"SELECT MEDIAN(v), COUNT(DISTINCT k), COUNT(DISTINCT w * w * w) FROM t", "SELECT k, SUM(v) FROM t GROUP BY k",
	} {
		q := &prepare(t, ds, text).Query
		if _, err := e.Run(t.Context(), q); err != nil {
			t.Errorf("%s: %v", text, why(t, e, q))
		}
	}
}

// opened are the integers of a result.
func opened(r *engine.Result) [][]int64 {
	var out [][]int64
	for m, v := range r.Measures {
		out = append(out, append([]int64{}, v.Open()...))
		for _, values := range r.Values[m] {
			sum := []int64{0}
			for _, x := range values.Open() {
				sum[0] += x*x + 3*x + 1
			}
			out = append(out, sum)
		}
	}
	return append(out, append([]int64{}, r.Persons.Open()...))
}

// TestGroupsPlanted: mistakes in the statements are found by what TestGroups compares.
func TestGroupsPlanted(t *testing.T) {
	p := newPeople(t, 60)
	ds := p.dataset(t, strings.ReplaceAll(peopleKeys, "UNIT", "u"))
	e, ref := open(t, ds), reference.New(ds, p.table1())
	for name, c := range map[string]struct{ question, find, write string }{
		"one group more":                   {bounded[2], `, 3\) AS r`, `, 4) AS r`},
		"one group less":                   {bounded[9], `, 3\) AS r`, `, 2) AS r`},
		"no clamp before a list":           {bounded[4], `CASE WHEN coalesce\(m0, 0\) < 0 THEN 0 WHEN .*? END`, "m0"},
		"cut before the keys are public":   {bounded[2], `CASE (WHEN t1\.f0 IS NULL .*?t1\.f0\) END) AS g`, "coalesce(CASE $1, 10) AS g"},
		"chosen by how much there is":      {bounded[4], `min\(ROW\(.*?, coalesce\(g`, "min(ROW(-m0, coalesce(g"},
		"chosen by nothing of the group":   {bounded[9], `min\(ROW\(.*?, k0 IS`, "min(ROW(u, k0 IS"},
		"everybody is cut together":        {bounded[2], ` AS r FROM p GROUP BY u`, " AS r FROM p GROUP BY u % 2"},
		"values are not cut":               {bounded[7], `, 4\) FILTER`, ", 400) FILTER"},
		"the same salt for every question": {bounded[2], `from_utf8\(X'[0-9a-f]{64,}'\)`, "'salt'"},
	} {
		q := &prepare(t, ds, c.question).Query
		ref.Order = order(q)
		want, _ := ref.Run(t.Context(), q)
		d := e.Current()
		all := d.Statements(q)
		find, changed := regexp.MustCompile(c.find), false
		for i, st := range all {
			all[i].Text = find.ReplaceAllString(st.Text, c.write)
			changed = changed || all[i].Text != st.Text
		}
		if !changed {
			t.Errorf("%s: there is nothing to plant it in: %s", name, all[0].Text)
			continue
		}
		got, err := d.Run(t.Context(), q, all)
		if err == nil && reflect.DeepEqual(opened(got), opened(want)) {
			t.Errorf("%s: nothing shows it", name)
		}
	}
}
