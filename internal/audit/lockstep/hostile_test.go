package lockstep

import (
	"flag"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/attack"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
)

var full = flag.Bool("full", false, "replay on more pairs")

// payable is a world in which every question can be paid for.
func payable(world *policy.Dataset) *policy.Dataset {
	ds := auditorsDataset(world)
	ds.Budget.DefaultEpsilon, ds.Budget.MaxEpsilon = dp.One, ds.Budget.Epsilon
	return ds
}

// hostileQuestions are what attackers ask, but for what private keys are in: which of them are shown may
// differ, with the probability that is paid for.
func hostileQuestions(t *testing.T, ds *policy.Dataset) (all []*tally) {
	t.Helper()
	answered := 0
	for _, a := range generate.Attacks() {
		st, err := plan.Prepare(ds, a.Text, plan.Options{})
		if err == nil && !st.Free() && len(st.Plans[0].Query.PrivateKeys()) > 0 {
			continue
		}
		if err == nil {
			answered++
		}
		all = append(all, &tally{question: a.Text})
	}
	if len(all) < 150 || answered < 40 {
		t.Errorf("%d questions, %d of them answered, are too few", len(all), answered)
	}
	return all
}

// reportFindings reports what there is about questions that were tried on so many pairs.
func reportFindings(t *testing.T, where string, tallies []*tally, answers, moved int) {
	t.Helper()
	a, m := 0, 0
	for _, y := range tallies {
		a, m = a+y.answered, m+y.moved
		if f := y.finding(); !f.Stands {
			t.Errorf("%s: %s: %s", where, f.Subject, f.Detail)
		}
	}
	t.Logf("%s: %d questions, %d answers, %d of them moved by one person", where, len(tallies), a, m)
	if a < answers || m < moved {
		t.Errorf("%s: %d answers, %d of them moved, are too few", where, a, m)
	}
}

// TestHostile sends what attackers would ask through the whole system, on neighbouring databases
// and with the same randomness: outcome, text, shape and charge are the same, and values are no
// farther apart than their noise was made for.
func TestHostile(t *testing.T) {
	pairs := 2
	if *full {
		pairs = 4
	}
	if testing.Short() {
		pairs = 1
	}
	for _, world := range generate.Worlds()[:2] { // the clinic, under both relations
		ds := payable(world)
		tallies := hostileQuestions(t, ds)
		for i := range pairs {
			p, err := Neighbours(t.Context(), ds, t.TempDir(), 5, i)
			if err != nil {
				t.Fatal(err)
			}
			for _, y := range tallies {
				y.try(t.Context(), nil, p, uint64(i))
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		reportFindings(t, ds.Name, tallies, pairs*40, pairs*10)
	}
}

// TestHostileInStores does the same where the data is in another store.
func TestHostileInStores(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	pairs := 1
	if *full {
		pairs = 10
	}
	for _, s := range attack.Stores()[1:] {
		for _, world := range generate.Worlds()[:2] {
			t.Run(s.Name+", "+world.Name, func(t *testing.T) {
				ds := payable(world)
				tallies := attack.Some(s, 16, *full, hostileQuestions(t, ds))
				there := false
				for n := range pairs {
					t.Run(fmt.Sprint("pair ", n), func(t *testing.T) {
						p := storedIn(t, s, ds, n)
						there = true
						for _, y := range tallies {
							y.try(t.Context(), nil, p, uint64(n))
						}
					})
				}
				if !there && !t.Failed() {
					t.Skip("there is no such store here")
				}
				reportFindings(t, ds.Name, tallies, pairs*len(tallies)/5, pairs*len(tallies)/20)
			})
		}
	}
}

// storedIn makes a pair of neighbours in a store.
func storedIn(t *testing.T, s attack.Store, ds *policy.Dataset, number int) Pair {
	t.Helper()
	d := generate.NewDice("in "+s.Name, uint64(number))
	var one, other *generate.Database
	for range 50 { // the largest
		made := generate.Make(d, ds)
		if n, ok := made.Neighbour(d); ok && (one == nil || made.Rows() > one.Rows()) {
			one, other = made, n
		}
	}
	return Pair{Name: fmt.Sprintf("pair %d in %s", number, s.Name), A: Database{ds, s.Open(t, one)}, B: Database{ds, s.Open(t, other)}}
}
