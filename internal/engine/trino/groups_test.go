package trino

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
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

// madePeople are the people that tests have asked for, by how many they are. No test changes them.
var madePeople = map[int]people{}

func somePeople(t testing.TB, count int) people {
	p, ok := madePeople[count]
	if !ok {
		p = newPeople(lasting{t}, count)
		madePeople[count] = p
	}
	return p
}

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
	p.insertLines(t, "t", p.rows)
	return p
}

// insertLines stores people as one constant: thousands of them take Trino seconds.
func (s schema) insertLines(t testing.TB, table string, rows [][]any) {
	lines := make([]string, len(rows))
	for i, r := range rows {
		cells := make([]string, len(r))
		for k, v := range r {
			if v != nil {
				cells[k] = fmt.Sprint(v)
			}
		}
		lines[i] = strings.ReplaceAll(strings.Join(cells, "|"), "'", "''")
	}
	list := make([]string, 0, 7)
	for k, typ := range []string{bigint, varchar, varchar, "integer", varchar, bigint, bigint} {
		list = append(list, fmt.Sprintf("CAST(nullif(c[%d], '') AS %s)", k+1, typ))
	}
	s.Run(t, "INSERT INTO "+s.table(table)+" SELECT "+strings.Join(list, ", ")+" FROM (SELECT split(line, '|') AS c FROM UNNEST(split('"+
		strings.Join(lines, "\n")+"', chr(10))) AS t (line))")
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
	p := somePeople(t, rounds(60, 120)) // as many as show planted mistakes
	was := longestList
	t.Cleanup(func() { longestList = was })
	for unit, list := range map[string]int64{"u": was, "name": was, "u ": 2} {
		t.Run(fmt.Sprintf("by %s, lists of %d", strings.TrimSpace(unit), list), func(t *testing.T) {
			longestList = list
			p.testGroups(t, strings.TrimSpace(unit), daily.Sample(t, bounded, 1))
		})
	}
}

func (p people) testGroups(t *testing.T, unit string, questions []string) {
	ds := p.dataset(t, strings.ReplaceAll(peopleKeys, "UNIT", unit))
	e, ref := open(t, ds), reference.New(ds, p.table1())
	for _, text := range questions {
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, unit)
		}
		q := &prepare(t, ds, text).Query
		ref.Order = order(q)
		want, _ := ref.Run(t.Context(), q)
		got, err := e.Run(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", text, runAgain(t, e, q))
		}
		if a, b := opened(got), opened(want); !reflect.DeepEqual(a, b) {
			t.Errorf("%s by %s:\n%v, and the reference\n%v\n%s", text, unit, a, b, e.Current().Statements(q)[0].Text)
		}
	}
}

// TestLongLists: limits that are longer than Trino's lists end no question where there is a row.
func TestLongLists(t *testing.T) {
	p := somePeople(t, 60)
	keys := strings.NewReplacer("UNIT", "u", "max_rows: 4", "max_rows: 10001", "max_groups: 3", "max_groups: 10001").Replace(peopleKeys)
	ds := p.dataset(t, keys)
	e := open(t, ds)
	for _, text := range daily.Sample(t, []string{
		"SELECT MEDIAN(v), COUNT(DISTINCT k), COUNT(DISTINCT w * w * w) FROM t", "SELECT k, SUM(v) FROM t GROUP BY k",
	}, 1) {
		q := &prepare(t, ds, text).Query
		if _, err := e.Run(t.Context(), q); err != nil {
			t.Errorf("%s: %v", text, runAgain(t, e, q))
		}
	}
}

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
	p := somePeople(t, 60)
	ds := p.dataset(t, strings.ReplaceAll(peopleKeys, "UNIT", "u"))
	e, ref := open(t, ds), reference.New(ds, p.table1())
	mistakes := map[string]struct{ question, find, write string }{
		"one group more":                   {bounded[2], `, 3\) AS r`, `, 4) AS r`},
		"one group less":                   {bounded[9], `, 3\) AS r`, `, 2) AS r`},
		"no clamp before a list":           {bounded[4], `CASE WHEN coalesce\(m0, 0\) < 0 THEN 0 WHEN .*? END`, "m0"},
		"cut before the keys are public":   {bounded[2], `CASE (WHEN t1\.f0 IS NULL .*?t1\.f0\) END) AS g`, "coalesce(CASE $1, 10) AS g"},
		"chosen by how much there is":      {bounded[4], `min\(ROW\(.*?, coalesce\(g`, "min(ROW(-m0, coalesce(g"},
		"chosen by nothing of the group":   {bounded[9], `min\(ROW\(.*?, k0 IS`, "min(ROW(u, k0 IS"},
		"everybody is cut together":        {bounded[2], ` AS r FROM p GROUP BY u`, " AS r FROM p GROUP BY u % 2"},
		"values are not cut":               {bounded[7], `, 4\) FILTER`, ", 400) FILTER"},
		"the same salt for every question": {bounded[2], `from_utf8\(X'[0-9a-f]{64,}'\)`, "'salt'"},
	}
	for _, name := range daily.Sample(t, slices.Sorted(maps.Keys(mistakes)), 3) {
		c := mistakes[name]
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

// TestHash: what is chosen by follows from the parts, one by one.
func TestHash(t *testing.T) {
	got := testtrino.Shared(t).Rows(t, testtrino.Admin, "SELECT "+hash("'ü'", "CAST(NULL AS bigint)", "-5", "true"))[0][0]
	part := func(s string) string { return fmt.Sprintf("%016X", xxhash.Sum64String(s)) }
	want := xxhash.Sum64String(part("ü") + "-" + part("-5") + part("true"))
	if got != strconv.FormatInt(int64(want), 10) {
		t.Errorf("the hash is %v, and was to be %d", got, int64(want))
	}
}

// TestNestedExists: what Trino cannot plan is refused before it costs anything, and no more.
func TestNestedExists(t *testing.T) {
	ds := dataset(t, "trino://x@127.0.0.1:1/memory/s?sslmode=disable", strings.ReplaceAll(peopleKeys, "UNIT", "u"))
	const start = "SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.u = a.u AND EXISTS (SELECT 1 FROM t c WHERE "
	for end, refused := range map[string]bool{"c.u = a.u AND c.v > a.v))": true, "c.u = b.u AND c.v > b.v))": false} {
		text := start + end
		if _, err := prepareOne(ds, text); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestPlaceOnce: a key that is listed twice is written once, at its first place.
func TestPlaceOnce(t *testing.T) {
	want := "element_at(map(CAST(split('5,9', ',') AS array(bigint)), CAST(split('0,2', ',') AS array(bigint))), x)"
	if got := printPosition("x", []int64{5, 5, 9}); got != want {
		t.Errorf("%s, and was to be %s", got, want)
	}
}

// TestPlaceBetween: what is between texts is in none of them.
func TestPlaceBetween(t *testing.T) {
	want := "split(from_utf8(X'6101046202040403'), from_utf8(X'04'))"
	if got := textList([]string{"a\x01", "b\x02", "", "\x03"}); got != want {
		t.Errorf("%s, and was to be %s", got, want)
	}
}

// Two texts of one xxhash64, whatever follows them. They take no time to find, and whoever writes a
// question can have them in it.
const (
	twin      = "KZaAtY3o........................CsGl7Hn7........................"
	otherTwin = "2ZOfDGIP........................#Fgakz9z........................"
)

// TestTies: of groups and values of one rank the same are kept in whatever order rows are found.
func TestTies(t *testing.T) {
	if xxhash.Sum64String(twin+"x") != xxhash.Sum64String(otherTwin+"x") {
		t.Fatal("the texts have two hashes")
	}
	const unknown = 7046029254386353131 // what a NULL counts as
	p := newSchema(t, "memory")
	for name, first := range map[string]string{"one": "true", "other": "u % 2 = 0"} {
		half := func(first string) string {
			return fmt.Sprintf("SELECT u, IF(%s, '%s', '%s') AS k, IF(%s, NULL, BIGINT '%d') AS i FROM UNNEST(sequence(0, 19)) AS t (u)",
				first, twin, otherTwin, first, int64(unknown))
		}
		p.Run(t, "CREATE TABLE "+p.table(name)+" AS "+half(first), "INSERT INTO "+p.table(name)+" "+half("NOT ("+first+")"))
	}
	var engines []*Engine
	for _, name := range []string{"one", "other"} {
		engines = append(engines, open(t, p.dataset(t, "unit: t.u\ntables:\n  t:\n    source: "+name+
			"\n    max_rows: 1\n    max_groups: 1\n    columns:\n"+
			"      k: {type: text, keys: private}\n      i: {type: integer, keys: private, nullable: true}\n")))
	}
	for _, question := range daily.Sample(t, []string{
		"SELECT k, COUNT(*) FROM t GROUP BY k", "SELECT i, COUNT(*) FROM t GROUP BY i", "SELECT COUNT(DISTINCT k) FROM t",
		"SELECT k, COUNT(DISTINCT i) FROM t GROUP BY k",
	}, 1) {
		var want [][]int64
		for _, e := range engines {
			q := &prepare(t, e.dataset, question).Query
			out, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", question, runAgain(t, e, q))
			}
			got := opened(out)
			for i := range out.Persons.Open() {
				got = append(got, []int64{int64(xxhash.Sum64String(fmt.Sprint(out.Combos.Pick([]int{i}))) % 1000)})
			}
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, and in another order %v", question, got, want)
			}
		}
	}
}

// TestLayout: where people are cut and windows number their rows, a result is the same however rows
// are stored and as often as it is computed, one person moves it by no more than is claimed, and 0
// and -0 are one number.
func TestLayout(t *testing.T) {
	const people = 100
	p := newSchema(t, "memory")
	rows := fmt.Sprintf("SELECT i / 150 AS pid, i AS vid, date_add('day', i %% 3, DATE '2024-01-01') AS day, "+
		"CASE i %% 2 WHEN 0 THEN DOUBLE '0' ELSE DOUBLE '-0' END AS w FROM "+
		"(SELECT a * 1000 + b AS i FROM UNNEST(sequence(0, %d)) AS x (a), UNNEST(sequence(0, 999)) AS y (b))", people*150/1000-1)
	orders := map[string]string{"one": "i", "other": "i DESC", "third": "xxhash64(to_big_endian_64(i))"}
	again := daily.Sample(t, []string{"other", "third", "one"}, 1)
	asked := slices.Concat([]string{"one"}, again, []string{"more"})
	for name, order := range orders {
		if !slices.Contains(asked, name) {
			continue
		}
		p.Run(t, "CREATE TABLE "+p.table(name)+" AS "+rows+" ORDER BY "+order)
	}
	p.Run(t, "CREATE TABLE "+p.table("more")+" AS SELECT -1 AS pid, 1000000 + vid AS vid, day, w FROM "+p.table("one")+
		" WHERE pid < 3 UNION ALL SELECT * FROM "+p.table("one"))
	var list []string
	for i := range 1900 {
		list = append(list, fmt.Sprint(i*9-7))
	}
	heavy := " = ANY('{" + strings.Join(list, ",") + "}')"
	engines := map[string]*Engine{}
	for _, name := range asked {
		engines[name] = open(t, p.dataset(t, "unit: v.pid\ntables:\n  v:\n    source: "+name+"\n    max_rows: 3\n    max_groups: 2\n"+
			"    max_joined: 20\n    columns: {vid: {type: integer, bounds: [0, 2000000]}, day: {type: date}, w: {type: decimal}}\n"))
	}
	for _, question := range daily.Sample(t, []string{
		"SELECT COUNT(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY day) AS n, extract(doy FROM day)" + heavy +
			" AS f FROM v) t WHERE n = 1",
		"SELECT COUNT(DISTINCT pid) FROM (SELECT pid, w, row_number() OVER (PARTITION BY pid ORDER BY day) AS n, extract(doy FROM day) " +
			"AS d FROM v) t WHERE n <= 2 AND w < 1 AND (d" + heavy + ") IS NOT NULL",
	}, 1) {
		var want []int64
		for _, name := range asked {
			e := engines[name]
			q := &prepare(t, e.dataset, question).Query
			out, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatalf("%.20s: %v", question, runAgain(t, e, q))
			}
			if q.Joined() == 0 || q.Joined() >= 150 {
				t.Errorf("nobody is cut in %.20s", question)
			}
			got := opened(out)[0]
			switch {
			case want == nil:
				want = got
			case name == "more":
				if d := got[0] - want[0]; d < -1 || d > 1 {
					t.Errorf("%.40s: one person moves it by %d", question, d)
				}
			case !reflect.DeepEqual(got, want):
				t.Errorf("%.40s: %v, and %v stored as %s", question, want, got, name)
			}
		}
		if strings.Contains(question, "n = 1") && want[0] != people {
			t.Errorf("%.40s: %d of %d people", question, want[0], people)
		}
	}
}
