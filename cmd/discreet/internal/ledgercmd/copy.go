package ledgercmd

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ledger/anywhere"
	"github.com/discreet-dp/discreet/internal/render"
)

type ledgerCopyCmd struct {
	From string `arg:"" help:"The ledger: a file, or postgres://..."`
	To   string `arg:"" help:"Where the copy is to be: a file or a database in which there is no ledger."`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (ledgerCopyCmd) Help() string {
	return `Copies every record with its answer or note, and then compares the two ledgers record by record. Nothing is replaced. A
ledger is copied as it was at one moment, while servers go on, in a database and in a file.

  discreet ledger copy hospital.ledger postgres://discreet@db.example.org/ledgers
  discreet ledger copy postgres://discreet@db.example.org/ledgers backup-2026-11-16.ledger

The password of a database is in the environment variable DISCREET_LEDGER_PASSWORD, or in a file that PGPASSFILE names.
A copy spends what the ledger has, a second time: keep it as a backup, or move to it, and never go on with both. A policy
with an anchor notices (discreet ledger anchor --help). Users are not part of it: 'discreet user copy' copies them.`
}

func (c *ledgerCopyCmd) Run(_ context.Context, s console.Screen) error {
	tell, done := console.Progress(s.Err, "checking")
	sum, err := anywhere.Copy(c.From, c.To, func(n, of uint64) { tell(int(n), int(of)) })
	done()
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, sum)
	}
	fmt.Fprintf(s.Out, "copied and compared: %s, %s kept\nhead: %s\n", render.Count(int64(sum.Records), "record"),
		render.Count(int64(sum.Answers), "answer"), sum.Head)
	fmt.Fprintln(s.Out, "go on with one of the two only: both would spend the same budget")
	return nil
}
