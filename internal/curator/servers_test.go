package curator_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

// One request on several servers at once is charged once, and all tell one answer.
func TestOneRequestOnServers(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	servers := w.Servers(3)
	for n := range 5 {
		request, text := curatortest.FreshID(), curatortest.ByAge(n)
		told := make([]string, len(servers))
		var all sync.WaitGroup
		for i, c := range servers {
			all.Go(func() {
				a, err := c.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: request})
				if err != nil {
					t.Error(err)
					return
				}
				told[i] = curatortest.Numbers(a)
			})
		}
		all.Wait()
		if told[0] != told[1] || told[1] != told[2] {
			t.Errorf("told %q", told)
		}
	}
	if got, want := w.Spent().Epsilon, 5*curatortest.Amount("0.1"); got != want {
		t.Errorf("spent %v, and five questions cost %v", got, want)
	}
}

// A question that is stopped again and again is computed so often for its charge, whichever server
// it is sent to.
func TestRerunsOnServers(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	w.BearFailures()
	servers := w.Servers(2)
	refused := 0
	for i := range 10 {
		waiting, cancel := context.WithCancel(ctx)
		c := servers[i%2]
		stops := func() error { cancel(); return waiting.Err() }
		r := &curatortest.Recorder{Ledger: c.Ledger, Engine: w.Data, Before: map[string]func() error{"run": stops}}
		again := curator.New(w.Dataset, r, r, curatortest.Seeded(71))
		_, err := again.Ask(waiting, api.Question{Analyst: "ana", SQL: curatortest.ByAge(7), Request: "stopped"})
		cancel()
		if errors.As(err, new(*api.Refusal)) {
			refused++
		}
	}
	if refused != 10-1-curator.MaxReruns {
		t.Errorf("refused %d times", refused)
	}
}

// A question is not answered about data that another server has seen change.
func TestVersionsOnServers(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	servers := w.Servers(2)
	l := servers[0].Ledger
	v, err := l.DataVersion(ctx, "hospital", "", "one")
	w.Check(err)
	charge := func(on int, request, state string, since uint64) error {
		_, err := servers[on].Access().Cashier.Charge(ctx, "ana", ledger.Charge{Request: request, Analyst: "ana", Dataset: "hospital",
			DataVersion: state,
			Looked:      true, Since: since, Query: ledger.Hash(request), Cost: dp.Cost{Epsilon: 1, Rho: 1}})
		return err
	}
	w.Check(charge(0, "a", "one", v.Since))
	v, err = servers[1].Ledger.DataVersion(ctx, "hospital", "", "one") // the other server looks
	w.Check(err)
	w.Check(charge(0, "b", "two", v.Since)) // and this one sees other data
	if err := charge(1, "c", "one", v.Since); !errors.As(err, new(*ledger.VersionError)) {
		t.Errorf("charged about data that is not there any more: %v", err)
	}
}
