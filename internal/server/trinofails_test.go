package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/ledger"
)

// failsPolicy has small tables in one catalog, whose state is looked at before every question, and
// in another one large ones, which are not looked at for a day: one that takes long, and one that
// takes memory.
const failsPolicy = `datasets:
  lake:
    source: %s
    unit: patients.pid
    release: immediate
    budget: {epsilon: 100, per_query: {default: 0.1, max: 1}}
    failures: {analyst: 1000, dataset: 1000}
    analysts: {ana: {share: 1}}
    tables:
      patients: {unique: pid, columns: {pid: {type: integer}, age: {type: integer, bounds: [0, 100]}}}
      visits: {path: pid -> patients.pid, max_rows: 5, max_groups: 2, columns: {n: {type: integer}, ward: {type: text}}}
  shed:
    source: %s
    unit: customers.custkey
    refresh: 24h
    release: immediate
    budget: {epsilon: 100, per_query: {default: 0.1, max: 1}}
    failures: {analyst: 1000, dataset: 1000}
    analysts: {ana: {share: 1}}
    tables:
      few: {unique: custkey, path: custkey -> customers.custkey, columns: {custkey: {type: integer}}}
      customers: {unique: custkey, trusted: true, columns: {custkey: {type: integer}}}
      orders: {path: custkey -> customers.custkey, trusted: true, max_rows: 5, max_groups: 2, columns: {custkey: {type: integer}}}
`

// failsGroups are so few that they can be filled.
const failsGroups = `{"rootGroups": [
  {"name": "readers", "softMemoryLimit": "100%", "hardConcurrencyLimit": 12, "maxQueued": 8},
  {"name": "others", "softMemoryLimit": "100%", "hardConcurrencyLimit": 100, "maxQueued": 100}],
 "selectors": [{"user": "alone_.*", "group": "readers"}, {"group": "others"}]}`

// How a question ends: answered, refused before it costs anything, or failed after its charge.
type ending string

const (
	answered ending = "answered"
	refused  ending = "refused"
	failed   ending = "failed"
)

// Questions, each with a number of its own.
const (
	small  = "SELECT COUNT(*) FROM visits WHERE n <> %d"
	few    = "SELECT COUNT(*) FROM few WHERE custkey <> %d"
	long   = "SELECT COUNT(*) FROM customers WHERE custkey <> %d"
	hungry = "SELECT COUNT(*) FROM orders WHERE custkey <> %d"
)

// trinoWords are those of Trino's messages, and what only the owner knows.
var trinoWords = regexp.MustCompile(`(?i)trino says|iceberg|alone_|does not exist|127\.0\.0\.1:|dial|connection refused|` +
	`TABLE_NOT|NO_NODES|REMOTE_|GENERIC_|PERMISSION|access denied|query failed|worker|io\.trino|java|exceeded|queue|catalog|max-|` +
	`memory|time limit|length`)

type fails struct {
	t      *testing.T
	c      *testtrino.Cluster
	sides  []*front
	number int
	ends   map[string]string // what is said of each ending at each listener
	wires  map[*front]map[string]*pgconn.HijackedConn
}

// TestTrinoFails: whatever happens to a cluster and to its tables, analysts of neighbours read the
// same at both listeners, one sentence and none of Trino's words; what could not begin costs
// nothing, what was charged and did not end is one incident, and the next question after it is over
// is answered.
func TestTrinoFails(t *testing.T) {
	if !daily.Full() {
		t.Skip("starts a cluster and kills it; go test ./internal/server -run TestTrinoFails -full -v -timeout 0")
	}
	f := newFails(t)
	for _, m := range f.mishaps() {
		m.begin()
		for _, dataset := range []string{"lake", "shed"} {
			f.ask(m.name, m.ends[dataset], dataset, map[string]string{"lake": small, "shed": few}[dataset], nil)
		}
		m.end()
		f.recovered(m.name)
	}
	var texts []string
	for i := range 60 {
		texts = append(texts, fmt.Sprintf("'%s%d'", strings.Repeat("x", 1000), i))
	}
	for _, m := range []struct {
		name, dataset, question, code string
		meanwhile                     func()
	}{
		{"a statement is too long", "lake", small + " AND ward NOT IN (" + strings.Join(texts, ", ") + ")", "QUERY_TEXT_TOO_LARGE", nil},
		{"too much memory", "shed", hungry, "EXCEEDED_LOCAL_MEMORY_LIMIT", nil},
		{"an administrator ends it", "shed", long, "ADMINISTRATIVELY_KILLED", func() { f.kill(works) }},
	} {
		f.ask(m.name, failed, m.dataset, m.question, m.meanwhile)
		if n := f.count("\"user\" LIKE 'alone_%' AND \"user\" <> 'alone_24' AND error_code = '" + m.code + "'"); n != 4 {
			t.Errorf("%s: of 4 questions %d ended with %s", m.name, n, m.code)
		}
		f.recovered(m.name)
	}
	for _, node := range []string{"worker1", "coordinator"} {
		f.ask(node+" is killed", failed, "shed", long, func() { f.c.Kill(t, node) })
		f.ask(node+" is away", refused, "shed", few, nil)
		f.ask(node+" is away", refused, "lake", small, nil)
		f.c.Restart(t)
		f.until("the cluster reads tables again", func() bool {
			_, err := f.c.Column(t, "SELECT count(*) FROM lake.alone_1.visits")
			return err == nil
		})
		f.recovered(node + " is back")
	}
	one, _ := f.sides[0].charged()
	if other, _ := f.sides[1].charged(); !slices.Equal(one, other) {
		t.Errorf("the ledgers differ:\n%s\n%s", one, other)
	}
}

func newFails(t *testing.T) *fails {
	groups := filepath.Join(t.TempDir(), "groups.json")
	must(t, os.WriteFile(groups, []byte(failsGroups), 0o600))
	c := testtrino.Own(t, "--workers=1", "--resource-groups="+groups, "--set=query.remote-task.max-error-duration=10s",
		"--set=exchange.max-error-duration=10s", "--set=query.max-length=100000", "--set=query.max-memory-per-node=60MB",
		"--set=query-manager.required-workers-max-wait=5s")
	f := &fails{t: t, c: c, ends: map[string]string{}, wires: map[*front]map[string]*pgconn.HijackedConn{}}
	c.Lake(t, "lake")
	c.Lake(t, "shed")
	for i := range 2 { // the second without one person
		lake, shed, without := fmt.Sprint("alone_", 1+2*i), fmt.Sprint("alone_", 2+2*i), 37*i
		c.Run(t, "CREATE SCHEMA lake."+lake, "CREATE SCHEMA shed."+shed,
			fmt.Sprintf("CREATE TABLE lake.%s.patients AS SELECT CAST(i AS bigint) AS pid, CAST(i %% 90 AS bigint) AS age FROM "+
				"UNNEST(sequence(1, 200)) AS s(i) WHERE i <> %d", lake, without),
			fmt.Sprintf("CREATE TABLE lake.%s.visits AS SELECT CAST(1 + i %% 200 AS bigint) AS pid, CAST(i AS bigint) AS n, "+
				"substr('abcd', 1 + i %% 4, 1) AS ward FROM UNNEST(sequence(1, 5000)) AS s(i) WHERE 1 + i %% 200 <> %d", lake, without),
			fmt.Sprintf("CREATE TABLE shed.%s.few AS SELECT CAST(i AS bigint) AS custkey FROM UNNEST(sequence(1, 200)) AS s(i) WHERE "+
				"i <> %d", shed, without),
			fmt.Sprintf("CREATE VIEW shed.%s.customers AS SELECT x * y * z AS custkey FROM UNNEST(sequence(1, 10000)) AS a(x) CROSS JOIN "+
				"UNNEST(sequence(1, 10000)) AS b(y) CROSS JOIN UNNEST(sequence(1, 10000)) AS c(z) WHERE x <> %d", shed, without),
			fmt.Sprintf("CREATE VIEW shed.%s.orders AS SELECT x * 10000 + y AS custkey FROM UNNEST(sequence(1, 10000)) AS a(x) CROSS JOIN "+
				"UNNEST(sequence(1, 10000)) AS b(y) WHERE x * 10000 + y <> %d", shed, without))
		side, dir := &front{t: t}, t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "clinic.yaml"), fmt.Appendf(nil, failsPolicy, c.Address(lake, "lake", lake),
			c.Address(shed, "shed", shed)), 0o600); err != nil {
			t.Fatal(err)
		}
		// All that is asked at the same time runs at the same time.
		side.serve(dir, Config{Running: 8, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		f.sides = append(f.sides, side)
		f.wires[side] = map[string]*pgconn.HijackedConn{"lake": side.wireTo("lake"), "shed": side.wireTo("shed")}
	}
	f.recovered("nothing")
	return f
}

// mishap is what makes questions of datasets end in a way, as long as it lasts.
type mishap struct {
	name       string
	begin, end func()
	ends       map[string]ending
}

func (f *fails) mishaps() []mishap {
	t, c := f.t, f.c
	right := func(is bool) { // whether the users have it
		c.Rules(t, func(rules string) string {
			if is {
				return strings.ReplaceAll(rules, `"alone_gone_`, `"alone_`)
			}
			return strings.ReplaceAll(rules, `"user": "alone_`, `"user": "alone_gone_`)
		})
		f.until("the rules hold", func() bool {
			db := c.DB(t, "alone_1")
			_, err := db.ExecContext(t.Context(), "EXPLAIN (TYPE VALIDATE) SELECT 1 FROM lake.alone_1.patients")
			return (err == nil) == is
		})
	}
	var end context.CancelFunc
	return []mishap{
		{"a right is taken away", func() { right(false) }, func() { right(true) }, map[string]ending{"lake": refused, "shed": refused}},
		{"a catalog is gone", func() { c.Run(t, "DROP CATALOG lake") }, func() { c.Lake(t, "lake") },
			map[string]ending{"lake": refused, "shed": answered}},
		{"another catalog is gone", func() { c.Run(t, "DROP CATALOG shed") }, func() { c.Lake(t, "shed") },
			map[string]ending{"lake": answered, "shed": refused}},
		{"a table is gone", func() {
			c.Run(t, "ALTER TABLE lake.alone_1.visits RENAME TO lake.alone_1.away",
				"ALTER TABLE lake.alone_3.visits RENAME TO lake.alone_3.away")
		}, func() {
			c.Run(t, "ALTER TABLE lake.alone_1.away RENAME TO lake.alone_1.visits",
				"ALTER TABLE lake.alone_3.away RENAME TO lake.alone_3.visits")
		}, map[string]ending{"lake": refused, "shed": answered}},
		{"a queue is full", func() { end = f.fill() }, func() {
			f.kill(fills) // who only goes away can be waited for by the cluster, for five minutes
			end()
			f.until("the queue is empty", func() bool { return f.count(fills) == 0 })
		}, map[string]ending{"lake": refused, "shed": refused}},
	}
}

// fill begins queries whose results nobody takes, until no more are let in.
func (f *fails) fill() context.CancelFunc {
	ctx, cancel := context.WithCancel(f.t.Context())
	for range 20 {
		db := f.c.DB(f.t, "alone_24")
		go func() {
			rows, err := db.QueryContext(ctx, "SELECT x + y FROM UNNEST(sequence(1, 10000)) AS a(x) CROSS JOIN "+
				"UNNEST(sequence(1, 10000)) AS b(y)")
			if err == nil {
				<-ctx.Done()
				rows.Close()
			}
		}()
	}
	f.until("the queue is full", func() bool {
		return f.count(fills) >= 20
	})
	return cancel
}

// What is known of the queries that fill the queue, and of those that take long.
const (
	fills = "state IN ('RUNNING', 'QUEUED') AND \"user\" = 'alone_24'"
	works = "state = 'RUNNING' AND \"user\" LIKE 'alone_%' AND query LIKE '%customers%' AND query LIKE '%count(%'"
)

// kill ends queries one by one, as an administrator would.
func (f *fails) kill(which string) {
	ids, err := f.c.Column(f.t, "SELECT query_id FROM system.runtime.queries WHERE "+which)
	must(f.t, err)
	for _, id := range ids {
		f.c.Run(f.t, "CALL system.runtime.kill_query(query_id => '"+id+"', message => 'the catalog is needed for other work')")
	}
}

func (f *fails) count(where string) (n int) {
	rows, err := f.c.Column(f.t, "SELECT count(*) FROM system.runtime.queries WHERE "+where)
	if err == nil {
		fmt.Sscan(rows[0], &n)
	}
	return n
}

func (f *fails) until(what string, is func() bool) {
	f.t.Helper()
	for range 600 {
		if is() {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	f.t.Fatalf("in vain it was waited until %s", what)
}

// recovered asks once more what is answered.
func (f *fails) recovered(after string) {
	f.t.Helper()
	f.ask(after+", and afterwards", answered, "lake", small, nil)
	f.ask(after+", and afterwards", answered, "shed", few, nil)
}

// ask asks neighbours at the same time, each a question of its own at each listener: at one after
// the other where there are answers, which say what is left. Meanwhile is done when the cluster
// works on all of them.
func (f *fails) ask(what string, want ending, dataset, question string, meanwhile func()) {
	f.t.Helper()
	begin := time.Now()
	m := mask{columns: []bool{true}}
	var said [2][2]string
	var charges, incidents [2]int
	for i, side := range f.sides {
		all, n := side.charged()
		charges[i], incidents[i] = len(all), n
	}
	var done sync.WaitGroup
	for at, ask := range []func(side *front, text string) string{
		func(side *front, text string) string {
			return say(f.t, f.wires[side][dataset], m, &pgproto3.Query{String: text})
		},
		func(side *front, text string) string {
			body, _ := json.Marshal(map[string]string{"dataset": dataset, "sql": text}) // texts always can be
			return named.ReplaceAllString(side.post("/v1/query", string(body), m), "*")
		},
	} {
		f.number++
		for i, side := range f.sides {
			text := fmt.Sprintf(question, f.number)
			done.Go(func() { said[i][at] = ask(side, text) })
		}
		if want == answered {
			done.Wait()
		}
	}
	if meanwhile != nil {
		f.until("all of them run", func() bool {
			return f.count(works) >= 4
		})
		meanwhile()
	}
	done.Wait()
	f.t.Logf("%s, %s: %s, %.1f s", what, dataset, want, time.Since(begin).Seconds())
	for at := range 2 {
		if said[0][at] != said[1][at] {
			f.t.Errorf("%s: there is said\n%.1500s\nand without one person\n%.1500s", what, said[0][at], said[1][at])
		}
		rows := strings.Contains(said[0][at], "DataRow") || strings.Contains(said[0][at], `"rows":`)
		if found := trinoWords.FindString(said[0][at]); want != answered && found != "" || rows != (want == answered) {
			f.t.Errorf("%s: %s, %q:\n%.1500s", what, want, found, said[0][at])
		}
		way := fmt.Sprint(want, " at listener ", at)
		if f.ends[way] == "" {
			f.ends[way] = said[0][at]
		}
		if want != answered && said[0][at] != f.ends[way] || want == refused && !strings.Contains(said[0][at], api.ErrData.Error()) {
			f.t.Errorf("%s: %s, and not in the one sentence that there is for it:\n%.1500s\n%.1500s", what, way, said[0][at], f.ends[way])
		}
	}
	paid, noted := 2, 0
	switch want {
	case refused:
		paid = 0
	case failed:
		noted = 2
	}
	for i, side := range f.sides {
		if all, n := side.charged(); len(all)-charges[i] != paid || n-incidents[i] != noted {
			f.t.Errorf("%s: %d charges and %d incidents, and not %d and %d", what, len(all)-charges[i], n-incidents[i], paid, noted)
		}
	}
}

// charged is what the ledger has charges for, in no order, and how many incidents it has.
func (f *front) charged() (charges []string, incidents int) {
	for r, err := range f.server.db.Records(context.Background(), 0) {
		switch {
		case err != nil:
			f.t.Fatal(err)
		case r.Kind == ledger.KindCharge:
			charges = append(charges, fmt.Sprintln(r.Analyst, r.Query, r.Mechanisms, r.Cost))
		case r.Kind == ledger.KindIncident:
			incidents++
		}
	}
	slices.Sort(charges)
	return charges, incidents
}
