package trino

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/testtrino"
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
	if !*full {
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
		e, err := OpenTables(t.Context(), ds, Tables{DB: c.DB(t, testtrino.Reader), Look: func(context.Context) (Seen, error) {
			return Seen{Version: store.Version{State: "made"}, Pinned: true, From: func(name string) string { return s.table(name) }}, nil
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
				t.Errorf("%s: %v, %v", text, err, why(t, e, &p.Query))
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
