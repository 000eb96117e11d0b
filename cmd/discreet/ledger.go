package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/ledger/sqlite"
	"github.com/discreet-dp/discreet/policy"
)

type ledgerCmd struct {
	Show   showCmd   `cmd:"" help:"Show the last records."`
	Verify verifyCmd `cmd:"" help:"Check the ledger from its first record to its last."`
	Export exportCmd `cmd:"" help:"Write one row a charge, as CSV or JSON Lines, for an auditor."`
	Replay replayCmd `cmd:"" help:"Decide every charge once more, by other code."`
	Anchor anchorCmd `cmd:"" help:"Compare the ledger with what is known of it elsewhere."`
	Key    keyCmd    `cmd:"" help:"Make the owner's key, and record whose signature counts."`
	Topup  topupCmd  `cmd:"" help:"Give a dataset, a group or an analyst more budget, signed by the owner."`
	Renew  renewCmd  `cmd:"" help:"Begin the next window of a dataset whose budget is renewed."`
}

// ledgerFlags say which ledger.
type ledgerFlags struct {
	Policy string `help:"The policy file whose ledger to read." placeholder:"FILE" short:"p"`
	File   string `arg:"" optional:"" help:"The ledger file, where no policy is given."`
}

// read opens the ledger for reading. The policy is nil where only a file was named.
func (f ledgerFlags) read() (*sqlite.Reader, *policy.Policy, error) {
	if (f.File == "") == (f.Policy == "") {
		return nil, nil, &usageError{errors.New("name a ledger file, or a policy with --policy")}
	}
	if f.Policy == "" {
		r, err := sqlite.Read(f.File)
		return r, nil, err
	}
	p, err := policy.Load(f.Policy)
	if err != nil {
		return nil, nil, err
	}
	r, err := sqlite.Read(p.Ledger)
	return r, p, err
}

type verifyCmd struct {
	ledgerFlags
	JSON bool `help:"Print JSON." name:"json"`
}

func (verifyCmd) Help() string {
	return `Recomputes the hash of every record and adds up what was spent from the records alone. Changes nothing.

  discreet ledger verify --policy hospital.yaml
  discreet ledger verify hospital.ledger`
}

func (c *verifyCmd) Run(s screen) error {
	r, _, err := c.read()
	if err != nil {
		return err
	}
	defer r.Close()
	tell, done := progress(s.err, "checking")
	sum, err := r.Verify(func(n, of uint64) { tell(int(n), int(of)) })
	done()
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(s.out, sum)
	}
	fmt.Fprintf(s.out, "%s is whole: %s, %s kept\n", r.Path(), count(int64(sum.Records), "record"), count(int64(sum.Answers), "answer"))
	fmt.Fprintf(s.out, "from %s to %s (UTC): %s\n", clock(sum.First), clock(sum.Last), kinds(sum.Kinds))
	fmt.Fprintf(s.out, "head: %s\n", sum.Head)
	if sum.Owner == "" {
		fmt.Fprintln(s.out, "owner: none, so no limit was ever raised by a signature")
	} else {
		fmt.Fprintf(s.out, "owner: the key with the fingerprint %s\n", fingerprint(sum.Owner))
	}
	for _, name := range slices.Sorted(maps.Keys(sum.Windows)) {
		fmt.Fprintf(s.out, "%s is in its window %d\n", table.Clean(name), sum.Windows[name])
	}
	printSpent(s, sum.Balances)
	return nil
}

func printSpent(s screen, balances []ledger.Balance) {
	if len(balances) == 0 {
		return
	}
	t := &table.Table{Header: []string{"account", "spent epsilon", "spent rho", "spent delta"}, Right: []bool{false, true, true, true}}
	for _, b := range balances {
		t.Add(b.Account, b.Spent.Epsilon.Short(), b.Spent.Rho.Short(), b.Spent.Delta.Short())
	}
	t.Write(s.out)
}

// allKinds are the kinds of records, in the order in which they are listed.
var allKinds = []ledger.Kind{
	ledger.KindLedger, ledger.KindCharge, ledger.KindAnswer, ledger.KindVersion, ledger.KindRenewal, ledger.KindOwner, ledger.KindTopUp, ledger.KindRecovery,
}

// kinds lists how many records there are of each kind, but the first.
func kinds(n map[ledger.Kind]uint64) string {
	var out []string
	for _, k := range allKinds[1:] {
		if n[k] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[k], k))
		}
	}
	if len(out) == 0 {
		return "nothing yet"
	}
	return strings.Join(out, ", ")
}

// clock shows a time of a record.
func clock(t time.Time) string { return t.UTC().Format(time.DateTime) }

// fingerprint is what people compare instead of a key: the first half of the key's SHA-256, in hexadecimal.
func fingerprint(key string) string {
	raw, err := hex.DecodeString(key)
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}
