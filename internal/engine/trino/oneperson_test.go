package trino

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/store"
)

const onePersonKeys = `
unit: people.pid
tables:
  people: {unique: pid, columns: {pid: {type: integer}, age: {type: integer, bounds: [0, 100]}}}
  rows:
    path: pid -> people.pid
    max_rows: 5
    max_groups: 2
    columns:
      n: {type: integer}
      ward: {type: text, keys: [a, b, c, d]}
      note: {type: text, keys: private}
      cost: {type: integer, bounds: [-5, 20]}
`

var onePersonQuestions = []string{
	"SELECT COUNT(*) FROM rows", "SELECT ward, COUNT(*), SUM(cost) FROM rows GROUP BY ward", "SELECT COUNT(DISTINCT n) FROM rows",
	"SELECT note, COUNT(*) FROM rows GROUP BY note", "SELECT MEDIAN(cost) FROM rows",
	"SELECT AVG(r.cost) FROM rows r JOIN people p ON r.pid = p.pid WHERE p.age > 5",
	"SELECT SUM(k) FROM (SELECT pid, SUM(cost) AS k FROM rows GROUP BY pid) AS t",
	"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM rows r WHERE r.pid = p.pid AND r.cost > 17)",
}

// TestOnePerson: somebody with a million rows, each with a key of its own, decides neither
// whether a question ends nor what it takes: it takes what a million rows of others take.
func TestOnePerson(t *testing.T) {
	if !daily.Full() {
		t.Skip("reads millions of rows; go test ./internal/engine/trino -run TestOnePerson -full -v")
	}
	c := testtrino.Shared(t)
	const million = 1_000_000
	var with [2]*Engine
	for i, person := range []string{"1 + n % 200000", "1"} {
		s := schema{c, "hive", c.Schema(t, "hive")}
		c.Run(t, "CREATE TABLE "+s.table("people")+" AS SELECT CAST(i * 1000 + j AS bigint) AS pid, CAST(j % 90 AS bigint) AS age FROM "+
			"UNNEST(sequence(0, 199)) AS x(i) CROSS JOIN UNNEST(sequence(1, 1000)) AS y(j)",
			"CREATE TABLE "+s.table("rows")+" AS SELECT CASE WHEN n <= 100000 THEN 1 + n % 200000 ELSE "+person+" END AS pid, n, "+
				"substr('abcd', 1 + n % 4, 1) AS ward, CAST(n AS varchar) || 'note' AS note, n % 40 - 10 AS cost FROM "+
				"(SELECT CAST(i * 1000 + "+
				fmt.Sprintf("j AS bigint) AS n FROM UNNEST(sequence(0, %d)) AS x(i) CROSS JOIN UNNEST(sequence(1, 1000)) AS y(j)) AS made",
					million/1000+99))
		ds := s.dataset(t, onePersonKeys)
		ds.Budget.Delta = 1 << 20 // with which private keys can be released
		e, err := OpenTables(t.Context(), ds, Tables{DB: c.DB(t, testtrino.Reader), ReadState: func(context.Context) (TableState, error) {
			return TableState{Version: store.Version{State: "made"}, Pinned: true, From: s.table}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		with[i] = e
	}
	for _, text := range onePersonQuestions {
		said := text + ":"
		var memory [2]float64
		for i, e := range with {
			p, err := prepareOne(e.dataset, text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			begin := time.Now()
			_, err = e.Run(t.Context(), &p.Query)
			took := time.Since(begin)
			if err != nil {
				t.Errorf("%s: %v, %v", text, err, runAgain(t, e, &p.Query))
			}
			memory[i] = peak(t, c, begin)
			said += fmt.Sprintf(" %s %.1f s, %.0f MB;", []string{"many people", "one person"}[i], took.Seconds(), memory[i])
		}
		t.Log(said)
		if memory[1] > 3*memory[0]+50 {
			t.Errorf("%s: one person with a million rows takes %.0f MB where many people with as many take "+
				"%.0f", text, memory[1], memory[0])
		}
	}
}

// peak is the largest memory, in millions of bytes, of the statements since a moment.
func peak(t *testing.T, c *testtrino.Cluster, since time.Time) (most float64) {
	t.Helper()
	r, err := http.NewRequest("GET", c.URL+"/v1/query", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Trino-User", testtrino.Admin)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var all []struct {
		QueryStats struct {
			CreateTime                time.Time
			PeakUserMemoryReservation string
		}
	}
	if err := json.NewDecoder(a.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	for _, q := range all {
		var n float64
		var unit string
		if q.QueryStats.CreateTime.Before(since) {
			continue
		}
		if _, err := fmt.Sscanf(q.QueryStats.PeakUserMemoryReservation, "%f%s", &n, &unit); err != nil {
			t.Fatal(err)
		}
		most = max(most, n*map[string]float64{"B": 1e-6, "kB": 1e-3, "MB": 1, "GB": 1e3}[unit])
	}
	return most
}

// pair is people, and the same without one of them, with what was opened of both, by its policy.
type pair struct {
	with, without people
	opened        map[string][2]*Engine
}

// newPair leaves out whoever has the most rows.
func newPair(t testing.TB, count int) pair {
	t.Helper()
	p := pair{with: somePeople(t, count), opened: map[string][2]*Engine{}}
	rows, most := map[any]int{}, any(nil)
	for _, r := range p.with.rows {
		if rows[r[0]]++; r[0] != nil && rows[r[0]] > rows[most] {
			most = r[0]
		}
	}
	p.without.schema = newSchema(t, "memory")
	p.without.Run(t, fmt.Sprintf("CREATE TABLE %s AS SELECT * FROM %s WHERE u IS DISTINCT FROM %s", p.without.table("t"), p.with.table("t"),
		sqlValue(most)))
	return p
}

// apart runs a question on both, as a policy says how people are cut, and judges it by what the
// question of another policy allows.
func (p pair) apart(t testing.TB, text, keys, judged string) (float64, error) {
	t.Helper()
	var q *tree.Query
	e, ok := p.opened[keys]
	if !ok {
		e = [2]*Engine{open(t, p.with.dataset(t, keys)), open(t, p.without.dataset(t, keys))}
		p.opened[keys] = e
	}
	a, err := e[0].Run(t.Context(), &prepare(t, e[0].dataset, text).Query)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e[1].Run(t.Context(), &prepare(t, e[1].dataset, text).Query)
	if err != nil {
		t.Fatal(err)
	}
	q = &prepare(t, p.with.dataset(t, judged), text).Query
	return neighbours.Judge(q, a, b)
}

// TestNeighbours: whoever has the most is there or not, and no result of a question that cuts
// people is further apart than its noise is made for. What others keep is the same, so it is that
// person's part alone. The same is found too far apart where people are not cut.
func TestNeighbours(t *testing.T) {
	p := newPair(t, rounds(60, 400))
	keys := strings.ReplaceAll(peopleKeys, "UNIT", "u")
	moved, full := 0, 0
	// The first is moved as far as it may, and of the whole list this person does not move one.
	asked := append([]string{bounded[0]}, daily.Sample(t, bounded[1:], 1)...)
	for _, text := range asked {
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, "u")
		}
		ratio, err := p.apart(t, text, keys, keys)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if ratio > 0 {
			moved++
		}
		if ratio == 1 {
			full++
		}
	}
	if moved < rounds(len(asked)-1, 4) || full == 0 {
		t.Errorf("one person moves %d of %d questions, and %d as far as they may", moved, len(asked), full)
	}
	uncut := map[string]struct{ text, was, is string }{
		"groups are not cut": {bounded[2], "max_groups: 3", "max_groups: 12"},
		"values are not cut": {"SELECT MEDIAN(v) FROM t", "max_rows: 4", "max_rows: 40"},
		"rows are not cut":   {"SELECT COUNT(*) FROM t", "max_rows: 4", "max_rows: 40"},
	}
	for _, planted := range daily.Sample(t, slices.Sorted(maps.Keys(uncut)), 1) {
		c := uncut[planted]
		if ratio, err := p.apart(t, c.text, strings.Replace(keys, c.was, c.is, 1), keys); err == nil {
			t.Errorf("%s, and nothing shows it: %v", planted, ratio)
		}
	}
}
