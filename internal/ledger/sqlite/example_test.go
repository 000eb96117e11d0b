package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

// Charge, keep, release: in this order, so that whatever dies in between, no answer is
// out that was not paid for.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path, ctx := filepath.Join(dir, "ledger.db"), context.Background()
	l, err := sqlite.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	charge := ledger.Charge{
		Request: "7f0c", Analyst: "ana", Dataset: "hospital", DataVersion: "2026-05",
		Query: strings.Repeat("0", 64), Mechanisms: "discrete-laplace", Window: 1,
		Cost:     dp.Cost{Epsilon: dp.One / 2, Rho: dp.One / 8, Delta: 0},
		Accounts: []ledger.Account{{Name: "hospital", Filter: account.PureFilter(3 * dp.One)}},
	}
	receipt, err := l.Charge(ctx, charge)
	if err != nil {
		log.Fatal(err)
	}
	if err := l.Keep(ctx, receipt.Sequence, "hospital 2026-05 000000", []byte("42")); err != nil {
		log.Fatal(err)
	}
	fmt.Println("epsilon left:", receipt.Balances[0].Left().Epsilon)

	// The connection broke and the client sends the request again.
	receipt, err = l.Charge(ctx, charge)
	if err != nil {
		log.Fatal(err)
	}
	answer, found, err := l.Answer(ctx, charge.Request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("again:", receipt.Again, found, string(answer))
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}

	report, err := sqlite.Verify(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("spent:", report.Balances[0].Spent)
	// Output:
	// epsilon left: 2.5
	// again: true true 42
	// spent: epsilon 0.5, rho 0.125, delta 0
}
