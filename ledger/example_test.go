package ledger_test

import (
	"context"
	"errors"
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

// A data set has a budget, and an analyst a quota inside it. A charge is
// admitted by both or by neither.
func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var l ledger.Ledger
	if l, err = sqlite.Open(filepath.Join(dir, "ledger.db")); err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	hospital := ledger.Account{Name: "hospital", Filter: account.ZCDPFilter(dp.One, 1000)}
	ana := ledger.Account{Name: "hospital/ana", Filter: account.ZCDPFilter(dp.One/4, 1000)}
	charge := func(request string, rho dp.Amount) {
		receipt, err := l.Charge(context.Background(), ledger.Charge{
			Request: request, Analyst: "ana", Dataset: "hospital", DataVersion: "2026-05",
			Query: strings.Repeat("0", 64), Mechanisms: "discrete-gaussian", Window: 1,
			Cost:     dp.Cost{Epsilon: dp.Unbounded, Rho: rho, Delta: 0},
			Accounts: []ledger.Account{hospital, ana},
		})
		var budget *ledger.BudgetError
		switch {
		case errors.As(err, &budget):
			fmt.Println(request, "refused by", budget.Account)
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(request, "is record", receipt.Sequence, "and leaves ana rho", receipt.Balances[1].Left().Rho)
		}
	}
	charge("one", dp.One/8)
	charge("two", dp.One/4)
	charge("three", dp.One/8)
	// Output:
	// one is record 2 and leaves ana rho 0.125
	// two refused by hospital/ana
	// three is record 3 and leaves ana rho 0
}
