package replay_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

// An auditor decides every charge once more.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledger.db")
	l, err := sqlite.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	for _, request := range []string{"monday", "tuesday"} {
		if _, err := l.Charge(context.Background(), ledger.Charge{
			Request: request, Analyst: "ana", Dataset: "hospital", Query: strings.Repeat("0", 64), Window: 1,
			Cost:     dp.Cost{Epsilon: dp.One / 2, Rho: dp.One / 8, Delta: 0},
			Accounts: []ledger.Account{{Name: "hospital", Filter: account.PureFilter(3 * dp.One)}},
		}); err != nil {
			log.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := sqlite.Read(path)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	p := replay.New()
	for line, err := range r.Records() {
		if err != nil {
			log.Fatal(err)
		}
		d := p.Next(line.Record, line.Hash)
		for _, a := range d.Accounts {
			fmt.Printf("%s: %v and then %v of %v, admitted: %v\n", a.Name, a.Before.Epsilon, a.After.Epsilon, a.Limit.Epsilon, a.Admitted)
		}
	}
	decisions, differ := p.Decisions()
	fmt.Printf("%d decisions re-derived, %d differ\n", decisions, differ)
	// Output:
	// hospital: 0 and then 0.5 of 3, admitted: true
	// hospital: 0.5 and then 1 of 3, admitted: true
	// 2 decisions re-derived, 0 differ
}
