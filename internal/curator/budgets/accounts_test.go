package budgets

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

var ctx = context.Background()

// ledgerFixture is a ledger whose policy changes. What is charged goes into the accounts that a
// question would be charged to.
type ledgerFixture struct {
	*DatasetAccounts
	t      testing.TB
	ledger ledger.Ledger
	path   string
}

func newShelf(t testing.TB, budget string) *ledgerFixture {
	t.Helper()
	s := &ledgerFixture{t: t, path: filepath.Join(t.TempDir(), "hospital.ledger")}
	l, err := sqlite.Open(s.path)
	if err != nil {
		t.Fatal(err)
	}
	s.ledger = l
	t.Cleanup(func() { s.ledger.Close() })
	s.policy(budget)
	return s
}

func (s *ledgerFixture) policy(budget string) {
	s.t.Helper()
	s.protect(budget, "unit: row", "patients: {source: patients.csv, columns: {age: {type: integer, bounds: [0, 120]}}}")
}

// protect changes whom the policy protects too.
func (s *ledgerFixture) protect(budget, unit string, tables ...string) {
	s.t.Helper()
	p, err := policy.Parse("hospital.yaml", fmt.Appendf(nil, `datasets:
  hospital:
    engine: duckdb
    analysts: {ana: , ben: }
    budget: %s
    %s
    tables:
      %s
`, budget, unit, strings.Join(tables, "\n      ")))
	if err != nil {
		s.t.Fatal(err)
	}
	s.DatasetAccounts = New(p.Datasets["hospital"], s.ledger)
}

func (s *ledgerFixture) charge(name string, cost dp.Cost) {
	s.t.Helper()
	firsts, err := s.Protected(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	s.chargeWith(name, cost, firsts)
}

func (s *ledgerFixture) chargeWith(name string, cost dp.Cost, firsts []ledger.First) {
	s.t.Helper()
	window, err := s.ledger.Window(ctx, "hospital")
	if err == nil {
		_, err = s.ledger.Charge(ctx, ledger.Charge{Request: name, Analyst: "ana", Dataset: "hospital", Query: ledger.Hash(name),
			Window: window, Cost: cost, Accounts: s.Charged("ana", window), Firsts: firsts})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// laplace is what a mechanism with a pure epsilon costs.
func laplace(epsilon string) dp.Cost {
	e := parse(epsilon)
	return dp.Cost{Epsilon: e, Rho: dp.Amount(float64(dp.One) * dp.RhoOfPure(e.Float()))}
}

func (s *ledgerFixture) promise(want int, wants ...string) []string {
	s.t.Helper()
	got, err := s.Promise(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, text := range wants {
		if len(got) < want || !strings.Contains(got[0], text) {
			s.t.Errorf("%q has no %q, or other than %d sentences", got, text, want)
		}
	}
	return got
}

func (s *ledgerFixture) account() api.Account {
	s.t.Helper()
	all, err := s.Accounts(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return all[0]
}
