package main

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/ledger/sqlite"
	"github.com/discreet-dp/discreet/policy"
)

type ledgerCmd struct {
	Verify verifyCmd `cmd:"" help:"Check the ledger from its first record to its last."`
}

type verifyCmd struct {
	Policy string `help:"The policy file whose ledger to check." placeholder:"FILE" short:"p"`
	JSON   bool   `help:"Print JSON." name:"json"`
	File   string `arg:"" optional:"" help:"The ledger file, where no policy is given."`
}

func (verifyCmd) Help() string {
	return `Recomputes the hash of every record and adds up what was spent from the records alone. Changes nothing.

  discreet ledger verify --policy hospital.yaml
  discreet ledger verify hospital.ledger`
}

func (c *verifyCmd) Run(s screen) error {
	path := c.File
	switch {
	case (c.File == "") == (c.Policy == ""):
		return &usageError{errors.New("name a ledger file, or a policy with --policy")}
	case c.Policy != "":
		p, err := policy.Load(c.Policy)
		if err != nil {
			return err
		}
		path = p.Ledger
	}
	done := waiting(s.err, "checking")
	r, err := sqlite.Verify(path)
	done()
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, r)
	}
	fmt.Fprintf(s.out, "%s is whole: %s, %s kept\n", path, count(int64(r.Records), "record"), count(int64(r.Answers), "answer"))
	fmt.Fprintf(s.out, "head: %s\n", r.Head)
	if len(r.Balances) == 0 {
		return nil
	}
	t := &table.Table{Header: []string{"account", "spent epsilon", "spent rho", "spent delta"}, Right: []bool{false, true, true, true}}
	for _, b := range r.Balances {
		t.Add(b.Account, b.Spent.Epsilon.Short(), b.Spent.Rho.Short(), b.Spent.Delta.Short())
	}
	t.Write(s.out)
	return nil
}
