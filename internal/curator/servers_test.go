package curator

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/postgres"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

// server is a curator with a connection of its own to a ledger.
type server struct {
	*Curator
	ledger ledger.Ledger
}

// servers are curators with one ledger in a database, each with a connection of its own, as in
// several processes. The first is the world's.
func (w *world) servers(n int) []server {
	w.t.Helper()
	u, err := url.Parse(testpg.Shared(w.t).URL())
	w.check(err)
	q := u.Query()
	q.Set("schema", fmt.Sprint("servers_", requests.Add(1)))
	u.RawQuery = q.Encode()
	var all []server
	for i := range n {
		l, err := postgres.Open(u.String())
		w.check(err)
		w.t.Cleanup(func() { l.Close() })
		all = append(all, server{New(w.dataset, w.data, l, seeded(byte(60+i))), l})
	}
	w.Curator = all[0].Curator
	w.t.Cleanup(func() {
		p := replay.New()
		for r, err := range all[0].ledger.Records(ctx, 0) {
			w.check(err)
			if d := p.Next(r, ledger.Hash(r.Encode())); len(d.Differs) > 0 {
				w.t.Error(d.Differs)
			}
		}
	})
	return all
}

// Who asks a stream on several servers gets one number for one question, all servers have one
// journal, and what answers cost is what was charged.
func TestStreamOnServers(t *testing.T) {
	w := streamWorld(t, plenty, "")
	servers := w.servers(3)
	conditions := []string{"sex = 'F'", "smoker", "sex = 'M' AND smoker", "diagnosis = 'flu'", "diagnosis = 'HIV'", "sex = 'X'"}
	var mu sync.Mutex
	values, sum := map[string]int64{}, dp.Amount(0)
	var all sync.WaitGroup
	for i := range 36 {
		all.Go(func() {
			text := conditions[i%len(conditions)]
			a, err := servers[i%3].Streams.Ask(ctx, api.StreamQuestion{Analyst: []string{"ana", "ben"}[i%2], SQL: text})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if v, ok := values[text]; ok && v != a.Value {
				t.Errorf("%s: %d and %d", text, v, a.Value)
			}
			values[text] = a.Value
			sum += a.Cost.Epsilon
		})
	}
	all.Wait()
	if got := w.spent().Epsilon; got != sum {
		t.Errorf("%v was charged, and answers cost %v", got, sum)
	}
	for i, c := range servers { // one after the other, each sees what the others did
		text := []string{"smoker AND diagnosis = 'flu'", "sex = 'X' AND smoker", "NOT smoker"}[i]
		if _, err := c.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: text}); err != nil {
			t.Errorf("server %d: %v", i, err)
		}
	}
	fresh := New(w.dataset, w.data, servers[1].ledger, seeded(70)) // which reads the whole journal
	for text, v := range values {
		if a, err := fresh.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: text}); err != nil || a.Value != v || !a.Free {
			t.Errorf("%s: %+v, %v; it was %d", text, a, err, v)
		}
	}
}

// The same for a holdout: no more answers than it has, and one for a submission.
func TestHoldoutOnServers(t *testing.T) {
	w := newHoldouts(t, plenty, nil)
	servers := w.servers(2)
	var mu sync.Mutex
	scores := map[int]string{}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			n := 520 + 10*(i%8) // and is as good as it was in training
			q := api.HoldoutQuestion{Analyst: "ana", Holdout: "trial", Predictions: guesses(n),
				Training: fmt.Sprint(1 - float64(600-n)/1000), Name: fmt.Sprint("try ", n)}
			a, err := servers[i%2].Holdouts.Ask(ctx, q)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if s, ok := scores[n]; ok && s != a.Score {
				t.Errorf("%d: %s and %s", n, s, a.Score)
			}
			scores[n] = a.Score
		})
	}
	all.Wait()
	for _, c := range servers {
		lines, err := c.Holdouts.Board(ctx, "trial")
		if err != nil || len(lines) != 8 {
			t.Errorf("%d lines, %v", len(lines), err)
		}
	}
}

// One request on several servers at once is charged once, and all tell one answer.
func TestOneRequestOnServers(t *testing.T) {
	w := newWorld(t, plenty)
	servers := w.servers(3)
	for n := range 5 {
		request, text := freshID(), byAge(n)
		told := make([]string, len(servers))
		var all sync.WaitGroup
		for i, c := range servers {
			all.Go(func() {
				a, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: request})
				if err != nil {
					t.Error(err)
					return
				}
				told[i] = numbers(a)
			})
		}
		all.Wait()
		if told[0] != told[1] || told[1] != told[2] {
			t.Errorf("told %q", told)
		}
	}
	if got, want := w.spent().Epsilon, 5*amount("0.1"); got != want {
		t.Errorf("spent %v, and five questions cost %v", got, want)
	}
}

// Of an answer something sharper is made once: of two servers that do so for the difference at once
// one does, and the other pays for an answer of its own, or for the difference to the first one's.
// Nobody pays for nothing.
func TestSharpenedOnServers(t *testing.T) {
	for range 4 {
		w := newWorld(t, pure)
		servers := w.servers(2)
		const text = "SELECT COUNT(*) FROM patients"
		if _, err := w.askAs("ana", text, amount("0.1")); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		failed := make([]error, 2)
		for i, c := range servers {
			all.Go(func() {
				q := api.Question{Analyst: "ana", SQL: text, Epsilon: amount("0.3") + dp.Amount(i), Request: freshID()}
				_, failed[i] = c.Ask(ctx, q)
			})
		}
		all.Wait()
		for _, err := range failed {
			w.check(err)
		}
		sharpened, charges := 0, w.chargesOf(servers[0].ledger)
		for _, r := range charges {
			if r.Cost.Epsilon < amount("0.3") && r.Cost.Epsilon > amount("0.1") {
				sharpened++
			}
		}
		answered := 0
		for r, err := range servers[0].ledger.Records(ctx, 0) {
			w.check(err)
			if r.Kind == ledger.KindAnswer {
				answered++
			}
		}
		if sharpened != 1 || answered != len(charges) {
			t.Errorf("sharpened %d times; %d charges have %d answers", sharpened, len(charges), answered)
		}
	}
}

// A question that is stopped again and again is computed so often for its charge, whichever server
// it is sent to.
func TestRerunsOnServers(t *testing.T) {
	w := newWorld(t, plenty)
	w.bear()
	servers := w.servers(2)
	refused := 0
	for i := range 10 {
		waiting, cancel := context.WithCancel(ctx)
		c := servers[i%2]
		stops := func() error { cancel(); return waiting.Err() }
		r := &recorder{Ledger: c.ledger, Engine: w.data, before: map[string]func() error{"run": stops}}
		again := New(w.dataset, r, r, seeded(71))
		_, err := again.Ask(waiting, api.Question{Analyst: "ana", SQL: byAge(7), Request: "stopped"})
		cancel()
		if errors.As(err, new(*api.Refusal)) {
			refused++
		}
	}
	if refused != 10-1-MaxReruns {
		t.Errorf("refused %d times", refused)
	}
}

// A question is not answered about data that another server has seen change.
func TestVersionsOnServers(t *testing.T) {
	w := newWorld(t, plenty)
	servers := w.servers(2)
	l := servers[0].ledger
	v, err := l.DataVersion(ctx, "hospital", "", "one")
	w.check(err)
	charge := func(on int, request, state string, since uint64) error {
		_, err := servers[on].Access().Cashier.Charge(ctx, "ana", ledger.Charge{Request: request, Analyst: "ana", Dataset: "hospital",
			DataVersion: state,
			Looked:      true, Since: since, Query: ledger.Hash(request), Cost: dp.Cost{Epsilon: 1, Rho: 1}})
		return err
	}
	w.check(charge(0, "a", "one", v.Since))
	v, err = servers[1].ledger.DataVersion(ctx, "hospital", "", "one") // the other server looks
	w.check(err)
	w.check(charge(0, "b", "two", v.Since)) // and this one sees other data
	if err := charge(1, "c", "one", v.Since); !errors.As(err, new(*ledger.VersionError)) {
		t.Errorf("charged about data that is not there any more: %v", err)
	}
}

// chargesOf are the charges of a ledger.
func (w *world) chargesOf(l ledger.Ledger) (all []*ledger.Record) {
	for r, err := range l.Records(ctx, 0) {
		w.check(err)
		if r.Kind == ledger.KindCharge {
			all = append(all, r)
		}
	}
	return all
}
