package ownercmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type LedgerCmd struct {
	Show   ledgerShowCmd   `cmd:"" help:"Show the last records."`
	Verify ledgerVerifyCmd `cmd:"" help:"Check the ledger from its first record to its last."`
	Export ledgerExportCmd `cmd:"" help:"Write one row for each charge, as CSV or JSON Lines, for an auditor."`
	Copy   ledgerCopyCmd   `cmd:"" help:"Copy the ledger to another file, or between a file and a PostgreSQL database, and compare the two."`
	Replay ledgerReplayCmd `cmd:"" help:"Decide every charge again, with independent code."`
	Anchor ledgerAnchorCmd `cmd:"" help:"Compare the ledger with its anchor, which is kept elsewhere."`
	Key    ledgerKeyCmd    `cmd:"" help:"Make the owner's key, and record whose signature counts."`
	Topup  ledgerTopupCmd  `cmd:"" help:"Give a dataset, a group or an analyst more budget, signed by the owner."`
	Renew  ledgerRenewCmd  `cmd:"" help:"Begin the next window of a dataset with a renewed budget."`
	Sign   ledgerSignCmd   `cmd:"" help:"Sign a draft of a running server."`
}

func (LedgerCmd) Help() string {
	return `The ledger has every charge, in a chain of hashes. These commands work while a server runs: on its machine, as its
user or root, without further flags; with the ledger in a PostgreSQL database, from anywhere; and topup and
renew elsewhere with --server. Only 'ledger anchor' with --write, --recover, --begin or --give-up needs the server
stopped.

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

type ledgerVerifyCmd struct {
	console.LedgerFlags
	Receipt []string `help:"Also check that the ledger holds the record of a receipt, by its sequence and hash." placeholder:"SEQUENCE:HASH"`
	JSON    bool     `help:"Print JSON." name:"json"`
}

func (ledgerVerifyCmd) Help() string {
	return `Recomputes the hash of every record and adds up the spending from the records only. Changes nothing.
Every answer has a receipt (in the JSON of 'discreet query --json'), and only the ledger that it came from holds its record.

  discreet ledger verify --policy hospital.yaml
  discreet ledger verify hospital.ledger
  discreet ledger verify hospital.ledger --receipt 12:3e2550ac8635d11842c23a70854d1cc1c8f240dbe44bf81c443145bb34c31edf`
}

// readReceipts returns hashes by the position of their records.
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
func (c *ledgerVerifyCmd) checkReceipts(r openledger.Reader, receipts map[uint64]string) error {
	if len(receipts) == 0 {
		return nil
	}
	for line, err := range r.Records() {
		if err != nil {
			return err
		}
		hash, ok := receipts[line.Record.Sequence]
		if ok && hash != line.Hash {
			return fmt.Errorf("record %d of %s is not the one on the receipt: this is another ledger, or it was rewritten",
				line.Record.Sequence, r.Path())
		}
		delete(receipts, line.Record.Sequence)
	}
	for n := range receipts {
		return fmt.Errorf("%s ends before record %d, which the receipt names: it is an older copy, or another ledger", r.Path(), n)
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
		fmt.Fprintf(s.Out, "anchor: %s\n", render.Clean(anchored))
	}
	if len(c.Receipt) > 0 {
		fmt.Fprintf(s.Out, "it holds %s\n", render.Count(int64(len(c.Receipt)), "receipt"))
	}
	if sum.Owner == "" {
		fmt.Fprintln(s.Out, "owner: none, so no signature ever raised a limit")
	} else {
		fmt.Fprintf(s.Out, "owner: the key with the fingerprint %s\n", ledger.Fingerprint(sum.Owner))
	}
	for _, name := range slices.Sorted(maps.Keys(sum.Windows)) {
		fmt.Fprintf(s.Out, "%s is in window %d\n", render.Clean(name), sum.Windows[name])
	}
	printSpent(s, sum.Balances)
	return nil
}

func printSpent(s console.Screen, balances []ledger.Balance) {
	if len(balances) == 0 {
		return
	}
	t := &render.Table{Header: []string{"account", "spent epsilon", "spent rho", "spent delta"}, Right: []bool{false, true, true, true}}
	for _, b := range balances {
		t.Add(b.Account, b.Spent.Epsilon.Short(), b.Spent.Rho.Short(), b.Spent.Delta.Short())
	}
	t.Write(s.Out)
}

type ledgerReplayCmd struct {
	console.LedgerFlags
	Quiet bool `help:"Do not list correct charges." short:"q"`
	JSON  bool `help:"Print JSON." name:"json"`
}

func (ledgerReplayCmd) Help() string {
	return `Decides every charge again, from the records before it, with code that shares nothing with the code that decided
it first: earlier spending, the cost, the limit with what the owner signed for, one charge for each request,
windows, versions, answers, and that no window answered what another paid for. Exits with 1 if a record does not
follow from those before. With a policy it also says where today's limits differ from those of the last charges,
which is not a fault. Anything the records cannot tell is in doubt: it is listed, and is not a fault either.

  discreet ledger replay --policy hospital.yaml
  discreet ledger replay hospital.ledger --quiet`
}

// maxListedDifferences is how many differences are told one by one.
const maxListedDifferences = 1000

func (c *ledgerReplayCmd) Run(s console.Screen) error {
	r, p, err := c.Read()
	if err != nil {
		return err
	}
	defer r.Close()
	last, _ := r.Head()
	tell, done := console.Progress(s.Err, "deciding")
	again := replay.New()
	charges, differences, doubts := []replay.Decision{}, []replay.Decision{}, []replay.Decision{}
	for line, err := range r.Records() {
		if err != nil {
			done()
			return err
		}
		d := again.Next(line.Record, line.Hash)
		if len(d.Differs) > 0 && len(differences) < maxListedDifferences {
			differences = append(differences, d)
		}
		if len(d.Doubts) > 0 && len(doubts) < maxListedDifferences {
			doubts = append(doubts, d)
		}
		switch {
		case c.JSON && !c.Quiet && d.Kind == ledger.KindCharge:
			charges = append(charges, d)
		case !c.JSON:
			c.print(s, line.Record, d)
		}
		if d.Sequence%4096 == 0 && (c.Quiet || !console.IsTerminal(s.Out)) {
			tell(int(d.Sequence), int(last))
		}
	}
	done()
	decisions, differ := again.Decisions()
	changes := []limitChange{}
	if p != nil {
		changes = limitChanges(p, again.Limits())
	}
	if c.JSON {
		out := map[string]any{"decisions": decisions, "differ": differ, "differences": differences, "doubts": doubts,
			"spent": again.Spent(), "policy_changes": changes}
		if !c.Quiet {
			out["charges"] = charges
		}
		if err := console.PrintJSON(s.Out, out); err != nil {
			return err
		}
	} else {
		for _, k := range changes {
			fmt.Fprintf(s.Out, "note: %s\n", render.Clean(k.String()))
		}
		fmt.Fprintf(s.Out, "%s re-derived, %s\n", render.Count(int64(decisions), "decision"), differenceWords(differ))
	}
	if differ == 0 {
		return nil
	}
	err = fmt.Errorf("%s of %s not what follows from those before: keep the ledger as it is, and find out who wrote it",
		render.Count(int64(differ), "record"), r.Path())
	if differ == 1 {
		err = fmt.Errorf("1 record of %s is not what follows from those before: keep the ledger as it is, and find out who wrote it",
			r.Path())
	}
	if c.JSON {
		return console.AlreadyShown(err)
	}
	return err
}

func differenceWords(n uint64) string {
	if n == 1 {
		return "1 differs"
	}
	return fmt.Sprintf("%d differ", n)
}

// print tells one decision in a line, and each difference in one of its own.
func (c *ledgerReplayCmd) print(s console.Screen, r *ledger.Record, d replay.Decision) {
	if d.Kind == ledger.KindCharge && !c.Quiet {
		word := "admitted"
		if !d.Admitted {
			word = "not admitted"
		}
		parts := []string{fmt.Sprintf("%6d  %s %s", d.Sequence, r.Analyst, word)}
		for _, a := range d.Accounts {
			by := a.After.ByEpsilon(a.Limit)
			parts = append(parts, fmt.Sprintf("%s %s + %s of %s", a.Name, console.Claim(by, a.Before).Short(),
				console.Claim(by, r.Cost).Short(), claimWords(by, a.Limit)))
		}
		fmt.Fprintln(s.Out, render.Clean(strings.Join(parts, "; ")))
	}
	for _, text := range d.Differs {
		fmt.Fprintf(s.Out, "%6d  DIFFERS (%s): %s\n", d.Sequence, render.Clean(string(d.Kind)), render.Clean(text))
	}
	for _, text := range d.Doubts {
		fmt.Fprintf(s.Out, "%6d  IN DOUBT (%s): %s\n", d.Sequence, render.Clean(string(d.Kind)), render.Clean(text))
	}
}

// limitChange is a limit that is another one now than at the account's last charge.
type limitChange struct {
	Account string   `json:"account"`
	Then    dp.Cost  `json:"then"`
	Now     *dp.Cost `json:"now"` // nil where the policy does not know the account
}

func (k limitChange) String() string {
	if k.Now == nil {
		return fmt.Sprintf("the policy no longer names %s, whose limit was %s", k.Account, limitedClaims(k.Then, k.Then))
	}
	return fmt.Sprintf("the policy gives %s %s; at its last charge it was %s", k.Account,
		limitedClaims(*k.Now, *k.Now), limitedClaims(k.Then, k.Then))
}

// limitChanges compares the limits of the last charges with those of the policy.
func limitChanges(p *policy.Policy, then map[string]dp.Cost) []limitChange {
	now := policyLimits(p)
	out := []limitChange{}
	for _, name := range slices.Sorted(maps.Keys(then)) {
		// Accounts of a window have its number behind their names, and all windows have the same
		// limits.
		base, _, windowed := strings.Cut(name, "#")
		if windowed {
			base += "#"
		}
		limit, ok := now[base]
		switch {
		case !ok:
			out = append(out, limitChange{name, then[name], nil})
		case limit != then[name]:
			out = append(out, limitChange{name, then[name], &limit})
		}
	}
	return out
}

// policyLimits are the limits that a policy gives, by account. Those of windows have a # behind
// their names.
func policyLimits(p *policy.Policy) map[string]dp.Cost {
	out := map[string]dp.Cost{}
	for _, d := range p.Datasets {
		window := ""
		if d.Budget.Renews() {
			window = "#"
		}
		out[d.Name+window], out[d.Name] = d.Filter().Limit(), d.TotalFilter().Limit()
		for _, group := range d.GroupNames() {
			quota, _ := d.GroupQuota(group)
			out[d.Name+"/group:"+group+window] = quota.Limit()
		}
		for _, stream := range d.StreamNames() {
			quota, _ := d.StreamQuota(stream)
			out[d.Name+"/stream:"+stream] = quota.Limit()
		}
		for analyst := range d.Analysts {
			quota, _ := d.Quota(analyst)
			out[d.Name+"/"+analyst+window] = quota.Limit()
		}
	}
	return out
}

type ledgerCopyCmd struct {
	From string `arg:"" help:"The ledger: a file, or postgres://..."`
	To   string `arg:"" help:"Where to copy it: a file or a database without a ledger."`
	JSON bool   `help:"Print JSON." name:"json"`
}

func (ledgerCopyCmd) Help() string {
	return `Copies every record with its answer or note, and then compares the two ledgers record by record. Nothing is
replaced. The copy is the ledger as it was at one moment, and servers can go on, with a database or a file.

  discreet ledger copy hospital.ledger postgres://discreet@db.example.org/ledgers
  discreet ledger copy postgres://discreet@db.example.org/ledgers backup-2026-11-16.ledger

The password of a database is in the environment variable DISCREET_LEDGER_PASSWORD, or in a file that PGPASSFILE
names. A copy can spend the same budget a second time: keep it as a backup, or move to it, but never go on with
both. A policy with an anchor notices (discreet ledger anchor --help). A ledger does not hold users:
'discreet user copy' copies them.`
}

func (c *ledgerCopyCmd) Run(_ context.Context, s console.Screen) error {
	tell, done := console.Progress(s.Err, "checking")
	sum, err := openledger.Copy(c.From, c.To, func(n, of uint64) { tell(int(n), int(of)) })
	done()
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, sum)
	}
	fmt.Fprintf(s.Out, "copied and compared: %s, %s kept\nhead: %s\n", render.Count(int64(sum.Records), "record"),
		render.Count(int64(sum.Answers), "answer"), sum.Head)
	fmt.Fprintln(s.Out, "go on with only one of the two: both would spend the same budget")
	return nil
}
