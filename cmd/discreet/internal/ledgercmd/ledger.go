// Package ledgercmd has the commands of discreet ledger: what was charged, whether it can be
// believed, and what the owner adds to it.
package ledgercmd

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/ledger"
)

// LedgerCmd is discreet ledger.
type LedgerCmd struct {
	Show   ledgerShowCmd   `cmd:"" help:"Show the last records."`
	Verify ledgerVerifyCmd `cmd:"" help:"Check the ledger from its first record to its last."`
	Export ledgerExportCmd `cmd:"" help:"Write one row a charge, as CSV or JSON Lines, for an auditor."`
	Copy   ledgerCopyCmd   `cmd:"" help:"Copy the ledger to another file, or between a file and a PostgreSQL database, and compare the two."`
	Replay ledgerReplayCmd `cmd:"" help:"Decide every charge once more, by other code."`
	Anchor ledgerAnchorCmd `cmd:"" help:"Compare the ledger with what is known of it elsewhere."`
	Key    ledgerKeyCmd    `cmd:"" help:"Make the owner's key, and record whose signature counts."`
	Topup  ledgerTopupCmd  `cmd:"" help:"Give a dataset, a group or an analyst more budget, signed by the owner."`
	Renew  ledgerRenewCmd  `cmd:"" help:"Begin the next window of a dataset whose budget is renewed."`
	Sign   ledgerSignCmd   `cmd:"" help:"Sign what a server that runs has drafted."`
}

func (LedgerCmd) Help() string {
	return `The ledger has every charge, in a chain of hashes. A server that runs has it: stop that first, unless the ledger is in
a PostgreSQL database, which all share. Topup and renew can also be done at a server that runs, with --server.

  discreet ledger show --policy hospital.yaml --last 20
  discreet ledger verify --policy hospital.yaml
  discreet ledger topup --help`
}

// recordKinds are the kinds of records, in the order in which they are listed.
var recordKinds = []ledger.Kind{
	ledger.KindLedger, ledger.KindCharge, ledger.KindAnswer, ledger.KindVersion, ledger.KindRenewal, ledger.KindOwner, ledger.KindTopUp,
	ledger.KindRecovery, ledger.KindNote, ledger.KindIncident, ledger.KindRelease,
}

// countKinds lists how many records there are of each kind, but the first.
func countKinds(n map[ledger.Kind]uint64) string {
	var out []string
	for _, k := range recordKinds[1:] {
		if n[k] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[k], k))
		}
	}
	if len(out) == 0 {
		return "nothing yet"
	}
	return strings.Join(out, ", ")
}
