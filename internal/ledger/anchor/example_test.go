package anchor_test

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
	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
)

// A backup of a ledger is put back. It would forget what was spent since, so it is not opened until
// the owner has counted that.
func Example() {
	dir, err := os.MkdirTemp("", "anchor")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledger.db")
	options := sqlite.Options{Anchorage: anchor.File(filepath.Join(dir, "anchor"))} // better on another volume

	spend(path, options, "monday")
	backup, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	spend(path, options, "tuesday")
	if err := os.WriteFile(path, backup, 0o600); err != nil {
		log.Fatal(err)
	}

	_, err = sqlite.OpenWith(path, options)
	var refused *ledger.AnchorError
	fmt.Println("refused:", errors.As(err, &refused))
	fmt.Println(refused.Problem)

	recovered, err := sqlite.Recover(path, options, "the disk failed, and this is the backup of monday")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("counts as spent:", recovered.Spent[0].Spent)
	spend(path, options, "wednesday")
	// Output:
	// monday: epsilon left 2.5
	// tuesday: epsilon left 2
	// refused: true
	// it is older: it ends at record 3 of 4
	// counts as spent: epsilon 1, rho 0.25, delta 0
	// wednesday: epsilon left 1.5
}

func spend(path string, options sqlite.Options, request string) {
	l, err := sqlite.OpenWith(path, options)
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := l.Charge(context.Background(), ledger.Charge{
		Request: request, Analyst: "ana", Dataset: "hospital", DataVersion: "2026-05",
		Query: strings.Repeat("0", 64), Mechanisms: "discrete-laplace", Window: 1,
		Cost:     dp.Cost{Epsilon: dp.One / 2, Rho: dp.One / 8, Delta: 0},
		Accounts: []ledger.Account{{Name: "hospital", Filter: account.PureFilter(3 * dp.One)}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: epsilon left %v\n", request, receipt.Balances[0].Left().Epsilon)
	if err := l.Close(); err != nil {
		log.Fatal(err)
	}
}
