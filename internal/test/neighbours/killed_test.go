package neighbours_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/trino"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

var (
	soak = flag.Int("soak", 0, "how many questions are asked while nodes of a Trino cluster are killed")
	fate = flag.Int("fate", 1, "which nodes are killed, and when")
)

const killedPolicy = `datasets:
  clinic:
    source: %s
    unit: patients.pid
    budget: {epsilon: 100, per_query: {default: 0.1, max: 1}}
    failures: {analyst: 1000, dataset: 1000}
    analysts: {ana: {share: 1}}
    tables:
      patients: {unique: pid, columns: {pid: {type: integer}, age: {type: integer, bounds: [0, 100]}}}
      visits:
        path: pid -> patients.pid
        max_rows: 5
        max_groups: 2
        columns:
          n: {type: integer}
          ward: {type: text, keys: [a, b, c, d]}
          cost: {type: integer, bounds: [-5, 20]}
`

// killedQuestions are asked one after the other, each with a number of its own, so that none is
// answered from memory. Everybody has more rows than count, so that something is kept of each.
var killedQuestions = []string{
	"SELECT COUNT(*) FROM visits WHERE n <> %d", "SELECT ward, COUNT(*), SUM(cost) FROM visits WHERE n <> %d GROUP BY ward",
	"SELECT AVG(v.cost) FROM visits v JOIN patients p ON v.pid = p.pid WHERE p.age > 20 AND v.n <> %d",
	"SELECT SUM(k) FROM (SELECT pid, SUM(cost) AS k FROM visits WHERE n <> %d GROUP BY pid) AS t",
	"SELECT COUNT(*) FROM patients p WHERE p.age > 10 AND EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid AND " +
		"v.n <> %d AND v.cost > 17)",
}

// Some hundred people, of whom the first has a third of all rows, made by the same arithmetic there
// and here.
const killedPeople, killedVisits = 500, 20_000

func storeKilled(t *testing.T, c *testtrino.Cluster, schema string) map[string]reference.Table {
	t.Helper()
	c.Run(t, fmt.Sprintf("CREATE TABLE iceberg.%s.patients AS SELECT CAST(i AS bigint) AS pid, CAST(i %% 90 AS bigint) AS age FROM "+
		"UNNEST(sequence(1, %d)) AS s(i)", schema, killedPeople),
		fmt.Sprintf("CREATE TABLE iceberg.%s.visits AS SELECT CASE WHEN i %% 3 = 0 THEN 1 ELSE 1 + i %% %d END AS pid, i AS n, "+
			"substr('abcd', CAST(1 + i * 7 / 3 %% 4 AS bigint), 1) AS ward, i * 31 %% 40 - 10 AS cost FROM (SELECT "+
			"CAST(a * 1000 + b AS bigint) "+
			"AS i FROM UNNEST(sequence(0, %d)) AS x(a) CROSS JOIN UNNEST(sequence(0, 999)) AS y(b)) AS made", schema, killedPeople,
			killedVisits/1000-1))
	patients, visits := reference.Table{Columns: []string{"pid", "age"}}, reference.Table{Columns: []string{"pid", "n", "ward", "cost"}}
	for i := int64(1); i <= killedPeople; i++ {
		patients.Rows = append(patients.Rows, []any{i, i % 90})
	}
	for i := range int64(killedVisits) {
		pid := 1 + i%killedPeople
		if i%3 == 0 {
			pid = 1
		}
		visits.Rows = append(visits.Rows, []any{pid, i, "abcd"[i*7/3%4 : i*7/3%4+1], i*31%40 - 10})
	}
	return map[string]reference.Table{"patients": patients, "visits": visits}
}

// witness is an engine that holds what a cluster returns against the reference, exactly.
type witness struct {
	engine.Engine
	t    *testing.T
	ref  *reference.Engine
	paid func() int // how many charges there are
	want int        // and have to be before a question runs
	runs int
}

func (w *witness) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	if paid := w.paid(); paid != w.want {
		w.t.Errorf("a question runs with %d charges in the ledger, and not %d", paid, w.want)
	}
	w.runs++
	got, err := w.Engine.Run(ctx, q)
	if err != nil {
		return got, err
	}
	want, err := w.ref.Run(ctx, q)
	if err != nil {
		w.t.Error(err)
	} else if far, err := neighbours.Judge(q, want, got); far != 0 || err != nil {
		w.t.Errorf("the reference has other numbers: %v, %v, for\n%s", far, err, q.Format())
	}
	return got, nil
}

// killer ends nodes and starts them again, until it is told to stop.
func killer(t *testing.T, c *testtrino.Cluster, end <-chan struct{}) (kills map[string]int, done <-chan struct{}) {
	kills = map[string]int{}
	ended := make(chan struct{})
	d := generate.NewDice("kills", uint64(*fate))
	wait := func(most int) bool {
		select {
		case <-end:
			return false
		case <-time.After(time.Duration(d.Below(most)) * time.Millisecond):
			return true
		}
	}
	go func() {
		defer close(ended)
		for n := 1; wait(20_000); n++ {
			node := fmt.Sprint("worker", 1+d.Below(2))
			if n%8 == 0 {
				node = "coordinator"
			}
			c.Kill(t, node)
			kills[node]++
			wait(4000)
			c.Restart(t)
		}
	}()
	return kills, ended
}

// TestKilled asks while workers are killed at random, and now and then the coordinator, of a
// cluster that runs tasks again: what is answered was paid for before it ran, and is what the
// reference keeps of everybody, also where a task has run twice; what is not is one incident.
func TestKilled(t *testing.T) {
	if *soak == 0 {
		t.Skip("takes minutes; go test ./internal/test/neighbours -run TestKilled -soak 100 -timeout 0 -v")
	}
	c := testtrino.Own(t, "--retry", "--set=query.remote-task.max-error-duration=10s", "--set=exchange.max-error-duration=10s")
	user := c.Alone(t, "iceberg")
	tables := storeKilled(t, c, user)
	p, err := policy.Parse("policy.yaml", fmt.Appendf(nil, killedPolicy, c.Address(user, "iceberg", user)))
	if err != nil {
		t.Fatal(err)
	}
	ds := p.Datasets["clinic"]
	e, err := trino.Open(t.Context(), ds)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	accounts, err := sqlite.Open(filepath.Join(t.TempDir(), "ledger"))
	if err != nil {
		t.Fatal(err)
	}
	defer accounts.Close()
	count := func(kind ledger.Kind) (n int) {
		for r, err := range accounts.Records(context.Background(), 0) {
			if err != nil {
				t.Error(err)
			}
			if r.Kind == kind {
				n++
			}
		}
		return n
	}
	w := &witness{Engine: e, t: t, ref: reference.New(ds, tables), paid: func() int { return count(ledger.KindCharge) }}
	w.ref.Choose = trinoHash
	asked := curator.New(ds, w, accounts, mech.NewReleaser(noise.NewSource()))

	again := map[string]bool{}
	reruns := func() { // those that ran anew, as long as the cluster remembers them
		rows, err := tasks(t, c)
		for _, r := range rows {
			again[r] = true
		}
		if err != nil {
			t.Logf("the tasks cannot be listed now: %v", err)
		}
	}
	end := make(chan struct{})
	kills, ended := killer(t, c, end)
	answered, failed, turned, longest := 0, 0, map[string]int{}, time.Duration(0)
	for i := 0; answered+failed < *soak; i++ {
		charges, incidents, runs := count(ledger.KindCharge), count(ledger.KindIncident), w.runs
		w.want = charges + 1
		text := fmt.Sprintf(killedQuestions[i%len(killedQuestions)], i)
		begin := time.Now()
		answer, err := asked.Ask(t.Context(), api.Question{Analyst: "ana", SQL: text, Request: fmt.Sprint("question ", i)})
		took := time.Since(begin)
		charges, incidents, runs = count(ledger.KindCharge)-charges, count(ledger.KindIncident)-incidents, w.runs-runs
		switch {
		case err == nil:
			if answered++; charges != 1 || incidents != 0 || runs == 0 || len(answer.Rows) == 0 {
				t.Errorf("%s: answered, with %d charges, %d incidents and %d runs", text, charges, incidents, runs)
			}
			longest = max(longest, took)
			reruns()
		case err == sessionhost.ErrRun:
			if failed++; charges != 1 || incidents != 1 {
				t.Errorf("%s: failed, with %d charges and %d incidents", text, charges, incidents)
			}
		default: // nothing was begun, because the cluster is away: it is asked later
			if turned[err.Error()]++; charges != 0 || incidents != 0 || runs != 0 {
				t.Errorf("%s: %v, with %d charges, %d incidents and %d runs", text, err, charges, incidents, runs)
			}
			time.Sleep(time.Second)
		}
		if (i+1)%10 == 0 {
			t.Logf("after %d: %d answered, %d failed, %v", i+1, answered, failed, turned)
		}
	}
	close(end)
	<-ended
	t.Logf("%d answered, %d failed after their charge, and before it %v; the longest took %v; killed: %v; tasks that ran again: %d",
		answered, failed, turned, longest.Round(time.Millisecond), kills, len(again))
	if len(turned) > 1 {
		t.Error("that the cluster is away is said in several ways")
	}
	if answered < *soak/2 || len(kills) == 0 || *soak >= 50 && len(again) == 0 {
		t.Error("too few were answered, or nothing was killed, or nothing ran again")
	}
}

func tasks(t *testing.T, c *testtrino.Cluster) ([]string, error) {
	return c.Column(t, "SELECT task_id FROM system.runtime.tasks WHERE CAST(split_part(task_id, '.', 4) AS integer) > 0")
}
