package main

import (
	"context"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/table"
)

type budgetCmd struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"Only this dataset." placeholder:"NAME"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (budgetCmd) Help() string {
	return `Prints the account of the dataset, which holds against all analysts together, and each analyst's quota inside it.

  discreet budget --policy hospital.yaml`
}

func (c *budgetCmd) Run(ctx context.Context, s screen) error {
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	names := []string{c.Dataset}
	if c.Dataset == "" {
		names = db.Policy().Names()
	}
	var all []discreet.Account
	for i, name := range names {
		accounts, err := db.Budget(ctx, name)
		if err != nil {
			return err
		}
		all = append(all, accounts...)
		if !c.JSON {
			if i > 0 {
				fmt.Fprintln(s.out)
			}
			printAccounts(s.out, accounts)
		}
	}
	if c.JSON {
		return printJSON(s.out, map[string]any{"accounts": all})
	}
	return nil
}

func printAccounts(w io.Writer, accounts []discreet.Account) {
	pure := accounts[0].Limit.Rho == dp.Unbounded
	t := &table.Table{Header: []string{"account", "spent", "", "limit", "left", "worth so far"}, Right: []bool{false, true, false, true, true}}
	for _, a := range accounts {
		spent, limit, left := a.Spent.Epsilon, a.Limit.Epsilon, a.Left.Epsilon
		worth := "epsilon " + a.Guarantee.Epsilon.Short() + " of " + a.Total.Epsilon.Short()
		if !pure {
			spent, limit, left = a.Spent.Rho, a.Limit.Rho, a.Left.Rho
			worth += fmt.Sprintf(" at delta %v", a.Guarantee.Delta)
		}
		part := 0.0
		if limit > 0 {
			part = spent.Float() / limit.Float()
		}
		t.Add(a.Name, spent.Short(), table.Bar(part, 20), limit.Short(), left.Short(), worth)
	}
	t.Write(w)
	if pure {
		fmt.Fprintln(w, "amounts are epsilon; a question at epsilon e takes e")
	} else {
		fmt.Fprintln(w, "amounts are rho; a question at epsilon e takes rho = e tanh(e/2), about e²/2")
		if a := accounts[0]; a.Limit.Delta > 0 {
			fmt.Fprintf(w, "for private keys, delta %v of %v is spent\n", a.Spent.Delta, a.Limit.Delta)
		}
	}
}
