package ledgercmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ledger/anywhere"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/ledger"
)

type ledgerVerifyCmd struct {
	console.LedgerFlags
	Receipt []string `help:"Also check that the ledger holds the record of a receipt, by its sequence and its hash." placeholder:"SEQUENCE:HASH"`
	JSON    bool     `help:"Print JSON." name:"json"`
}

func (ledgerVerifyCmd) Help() string {
	return `Recomputes the hash of every record and adds up what was spent from the records alone. Changes nothing.
Every answer has a receipt (in the JSON of 'discreet query --json'), which only the ledger that it came from holds.

  discreet ledger verify --policy hospital.yaml
  discreet ledger verify hospital.ledger
  discreet ledger verify hospital.ledger --receipt 12:3e2550ac8635d11842c23a70854d1cc1c8f240dbe44bf81c443145bb34c31edf`
}

// readReceipts are hashes by the position of their records.
func (c *ledgerVerifyCmd) readReceipts() (map[uint64]string, error) {
	all := map[uint64]string{}
	for _, text := range c.Receipt {
		position, hash, ok := strings.Cut(text, ":")
		n, err := strconv.ParseUint(position, 10, 64)
		if !ok || err != nil || len(hash) != 64 {
			return nil, console.Misuse(fmt.Errorf("--receipt %q is not SEQUENCE:HASH, such as 12:3e25..., with all 64 digits", text))
		}
		all[n] = hash
	}
	return all, nil
}

// checkReceipts returns an error unless the ledger holds all the receipts.
func (c *ledgerVerifyCmd) checkReceipts(r anywhere.Reader, receipts map[uint64]string) error {
	if len(receipts) == 0 {
		return nil
	}
	for line, err := range r.Records() {
		if err != nil {
			return err
		}
		hash, ok := receipts[line.Record.Sequence]
		if ok && hash != line.Hash {
			return fmt.Errorf("record %d of %s is not the one of the receipt: this is another ledger, or it was rewritten",
				line.Record.Sequence, r.Path())
		}
		delete(receipts, line.Record.Sequence)
	}
	for n := range receipts {
		return fmt.Errorf("%s ends before record %d of the receipt: it is an older copy, or another ledger", r.Path(), n)
	}
	return nil
}

func (c *ledgerVerifyCmd) Run(ctx context.Context, s console.Screen) error {
	receipts, err := c.readReceipts()
	if err != nil {
		return err
	}
	r, p, err := c.Read()
	if err != nil {
		return err
	}
	defer r.Close()
	tell, done := console.Progress(s.Err, "checking")
	sum, err := r.Verify(func(n, of uint64) { tell(int(n), int(of)) })
	done()
	if err == nil {
		err = c.checkReceipts(r, receipts)
	}
	if err != nil {
		return err
	}
	anchored, err := checkAnchor(ctx, p, r)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, sum)
	}
	fmt.Fprintf(s.Out, "%s is whole: %s, %s kept\n", r.Path(), render.Count(int64(sum.Records), "record"),
		render.Count(int64(sum.Answers), "answer"))
	fmt.Fprintf(s.Out, "from %s to %s (UTC): %s\n", console.Timestamp(sum.First), console.Timestamp(sum.Last), countKinds(sum.Kinds))
	fmt.Fprintf(s.Out, "head: %s\n", sum.Head)
	if anchored != "" {
		fmt.Fprintf(s.Out, "anchor: %s\n", table.Clean(anchored))
	}
	if len(c.Receipt) > 0 {
		fmt.Fprintf(s.Out, "it holds %s\n", render.Count(int64(len(c.Receipt)), "receipt"))
	}
	if sum.Owner == "" {
		fmt.Fprintln(s.Out, "owner: none, so no limit was ever raised by a signature")
	} else {
		fmt.Fprintf(s.Out, "owner: the key with the fingerprint %s\n", ledger.Fingerprint(sum.Owner))
	}
	for _, name := range slices.Sorted(maps.Keys(sum.Windows)) {
		fmt.Fprintf(s.Out, "%s is in its window %d\n", table.Clean(name), sum.Windows[name])
	}
	printSpent(s, sum.Balances)
	return nil
}

func printSpent(s console.Screen, balances []ledger.Balance) {
	if len(balances) == 0 {
		return
	}
	t := &table.Table{Header: []string{"account", "spent epsilon", "spent rho", "spent delta"}, Right: []bool{false, true, true, true}}
	for _, b := range balances {
		t.Add(b.Account, b.Spent.Epsilon.Short(), b.Spent.Rho.Short(), b.Spent.Delta.Short())
	}
	t.Write(s.Out)
}
