package ledgercmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type ledgerReplayCmd struct {
	console.LedgerFlags
	Quiet bool `help:"Say nothing about charges that are as they should be." short:"q"`
	JSON  bool `help:"Print JSON." name:"json"`
}

func (ledgerReplayCmd) Help() string {
	return `Decides every charge once more, from the records before it, by code that shares nothing with what decided it
first: what was spent before, the cost, the limit with what the owner signed for, one charge a request, windows,
versions, answers, and that what one window paid for was not answered in another. Exits with 1 where a record is not what follows. With a policy it also says where the limits of
today are others than those of the last charges, which is no fault. What the records cannot tell is in doubt: it is listed, and
is no fault either.

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
			fmt.Fprintf(s.Out, "note: %s\n", table.Clean(k.String()))
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
		fmt.Fprintln(s.Out, table.Clean(strings.Join(parts, "; ")))
	}
	for _, text := range d.Differs {
		fmt.Fprintf(s.Out, "%6d  DIFFERS (%s): %s\n", d.Sequence, table.Clean(string(d.Kind)), table.Clean(text))
	}
	for _, text := range d.Doubts {
		fmt.Fprintf(s.Out, "%6d  IN DOUBT (%s): %s\n", d.Sequence, table.Clean(string(d.Kind)), table.Clean(text))
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
		return fmt.Sprintf("the policy does not name %s any more, whose limit was %s", k.Account, limitedClaims(k.Then, k.Then))
	}
	return fmt.Sprintf("the policy gives %s %s; at its last charge it was %s", k.Account, limitedClaims(*k.Now, *k.Now), limitedClaims(k.Then, k.Then))
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
