package ownercmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

type ledgerShowCmd struct {
	console.LedgerFlags
	Last    int      `help:"How many records to show, the last ones; 0 for all." default:"20" placeholder:"N"`
	Dataset string   `help:"Only records about this dataset." placeholder:"NAME"`
	Analyst string   `help:"Only charges of this analyst, with their answers." placeholder:"NAME"`
	Kind    []string `help:"Only these kinds: charge, answer, version, renewal, owner, topup, recovery, note, incident, release, ledger." placeholder:"KIND"`
	Request string   `help:"Only the charge of this request, with its answer." placeholder:"ID"`
	JSON    bool     `help:"Print JSON." name:"json"`
}

func (ledgerShowCmd) Help() string {
	return `Shows who paid what for which question, what was left in the account nearest to its limit, and the entries of the
owner. A charge that took an account over 50, 80 or 95 % of its limit says so. Answers are not shown. Notes of
streams and holdouts are listed without their content.

  discreet ledger show --policy hospital.yaml
  discreet ledger show --policy hospital.yaml --analyst ana --kind charge --last 5
  discreet ledger show hospital.ledger --request 7f0c --json`
}

func (c *ledgerShowCmd) Run(s console.Screen) error {
	if c.Last < 0 {
		return console.Misuse(fmt.Errorf("--last %d: give a number of records, or 0 for all", c.Last))
	}
	for _, k := range c.Kind {
		if !slices.Contains(recordKinds, ledger.Kind(k)) {
			return console.Misuse(fmt.Errorf("there are no records of kind %q: the kinds are charge, answer, version, renewal, owner, "+
				"topup, recovery, note, incident, release and ledger", k))
		}
	}
	r, _, err := c.Read()
	if err != nil {
		return err
	}
	defer r.Close()
	if c.JSON {
		return c.printRows(s, r)
	}
	page := newLedgerPage(s)
	// All records are printed as they come; the last ones only when it is known that they are.
	var last []*ledger.Record
	shown, more := 0, 0
	for line, err := range c.selectRecords(r) {
		if err != nil {
			return err
		}
		shown++
		if c.Last == 0 {
			page.add(line.Record)
			continue
		}
		if last = append(last, line.Record.Clone()); len(last) > 2*c.Last {
			more += len(last) - c.Last
			last = slices.Clone(last[len(last)-c.Last:])
		}
	}
	if c.Last > 0 && len(last) > c.Last {
		more += len(last) - c.Last
		last = last[len(last)-c.Last:]
	}
	// Whoever reads the page slowly holds up nobody.
	if err := r.Close(); err != nil {
		return err
	}
	for _, k := range last {
		page.add(k)
	}
	page.flush()
	switch {
	case shown == 0:
		fmt.Fprintln(s.Out, "no record matches")
	case more > 0:
		fmt.Fprintf(s.Out, "%s before these; --last 0 shows all\n", render.Count(int64(more), "record"))
	}
	return nil
}

func (c *ledgerShowCmd) printRows(s console.Screen, r openledger.Reader) error {
	answers, rows := map[uint64]keptAnswer{}, []ledgerRow{}
	for line, err := range r.Records() {
		if err != nil {
			return err
		}
		if k := line.Record; k.Kind == ledger.KindAnswer {
			answers[k.Charge] = keptAnswer{k.Sequence, strings.Clone(k.AnswerHash)}
		}
	}
	for line, err := range c.selectRecords(r) {
		if err != nil {
			return err
		}
		if rows = append(rows, newLedgerRow(line, answers)); c.Last > 0 && len(rows) > 2*c.Last {
			rows = slices.Clone(rows[len(rows)-c.Last:])
		}
	}
	if c.Last > 0 && len(rows) > c.Last {
		rows = rows[len(rows)-c.Last:]
	}
	if err := r.Close(); err != nil {
		return err
	}
	return console.PrintJSON(s.Out, map[string]any{"ledger": r.Path(), "records": rows})
}

func (c *ledgerShowCmd) selectRecords(r openledger.Reader) func(yield func(chain.Line, error) bool) {
	return func(yield func(chain.Line, error) bool) {
		charges := map[uint64]bool{} // that were asked for, so that their answers are
		narrow := c.Dataset != "" || c.Analyst != "" || c.Request != ""
		for line, err := range r.Records() {
			if err != nil {
				yield(line, err)
				return
			}
			k := line.Record
			want := (c.Dataset == "" || c.isAbout(k)) && (c.Analyst == "" || k.Analyst == c.Analyst) &&
				(c.Request == "" || k.Request == c.Request)
			if narrow && k.Kind == ledger.KindCharge && want {
				charges[k.Sequence] = true
			}
			if narrow && k.Kind == ledger.KindAnswer {
				want = charges[k.Charge]
			}
			if want && (len(c.Kind) == 0 || slices.Contains(c.Kind, string(k.Kind))) && !yield(line, nil) {
				return
			}
		}
	}
}

// isAbout reports whether a record is about the dataset, or about one of its accounts.
func (c *ledgerShowCmd) isAbout(r *ledger.Record) bool {
	if r.Dataset != "" {
		return r.Dataset == c.Dataset
	}
	of := func(name string) bool {
		return name == c.Dataset || strings.HasPrefix(name, c.Dataset+"/") || strings.HasPrefix(name, c.Dataset+"#")
	}
	return of(r.Session) || slices.ContainsFunc(r.Accounts, of) || slices.ContainsFunc(r.Balances,
		func(b ledger.Balance) bool { return of(b.Account) })
}

// ledgerPage prints records as tables of some hundred lines, so that the end of a long ledger need
// not be known before its beginning is shown.
type ledgerPage struct {
	console.Screen
	*render.Table
}

func newLedgerPage(s console.Screen) *ledgerPage {
	return &ledgerPage{s, &render.Table{
		Header: []string{"#", "time (UTC)", "kind", "analyst", "dataset", "version", "cost", "left", ""}, Right: []bool{true},
	}}
}

func (p *ledgerPage) add(r *ledger.Record) {
	version := console.Shorten(r.DataVersion, 8)
	if r.Kind == ledger.KindVersion && version == "" {
		version = "none"
	}
	cost, left := "", ""
	if r.Kind == ledger.KindCharge {
		cost, left = costWords(r)
	}
	p.Add(fmt.Sprint(r.Sequence), console.Timestamp(r.Time), string(r.Kind), r.Analyst, r.Dataset, version, cost, left, remarkWords(r))
	if len(p.Rows) == 500 {
		p.flush()
	}
}

func (p *ledgerPage) flush() {
	if len(p.Rows) > 0 {
		p.Write(p.Out)
		p.Rows = p.Rows[:0]
	}
}

// costWords says what a charge cost, in the claim that its accounts count, and what it left where
// least is left.
func costWords(r *ledger.Record) (cost, left string) {
	if len(r.Balances) == 0 {
		return "", ""
	}
	least := r.Balances[0]
	for _, b := range r.Balances[1:] {
		if b.Part() > least.Part() {
			least = b
		}
	}
	limit := least.Limit
	if limit.Epsilon != dp.Unbounded && limit.Rho != dp.Unbounded { // one of the two is what it lasts by
		if least.Spent.ByEpsilon(limit) {
			limit.Rho = dp.Unbounded
		} else {
			limit.Epsilon = dp.Unbounded
		}
	}
	return limitedClaims(limit, r.Cost), limitedClaims(limit, least.Left()) + " in " + least.Account
}

// claimWords shows the claim of a limit that an account is read by.
func claimWords(byEpsilon bool, limit dp.Cost) string {
	if byEpsilon {
		return "epsilon " + limit.Epsilon.Short()
	}
	return "rho " + limit.Rho.Short()
}

// limitedClaims shows the claims of a cost that a limit limits.
func limitedClaims(limit, c dp.Cost) string {
	var out []string
	if limit.Epsilon != dp.Unbounded {
		out = append(out, "epsilon "+c.Epsilon.Short())
	}
	if limit.Rho != dp.Unbounded {
		out = append(out, "rho "+c.Rho.Short())
	}
	if limit.Delta != dp.Unbounded && c.Delta > 0 {
		out = append(out, "delta "+c.Delta.Short())
	}
	return strings.Join(out, ", ")
}

// remarkWords is what else there is to say about a record, in a line.
func remarkWords(r *ledger.Record) string {
	switch r.Kind {
	case ledger.KindLedger:
		return "the ledger begins"
	case ledger.KindCharge:
		out := []string{console.Shorten(r.Mechanisms, 40)}
		if r.Mechanisms == "" {
			out = nil
		}
		if r.Window > 1 {
			out = append(out, fmt.Sprintf("window %d", r.Window))
		}
		for _, a := range alertsOf(r) {
			out = append(out, fmt.Sprintf("! %d %% of %s", a.Percent, a.Account))
		}
		return strings.Join(out, "; ")
	case ledger.KindAnswer:
		return fmt.Sprintf("to charge %d", r.Charge)
	case ledger.KindVersion:
		return "from here on, charges are for this version of the data"
	case ledger.KindRenewal:
		return fmt.Sprintf("window %d begins: %s", r.Window, r.Reason)
	case ledger.KindOwner:
		return fmt.Sprintf("the owner is %s: %s", console.Shorten(ledger.Fingerprint(r.PublicKey), 8), r.Reason)
	case ledger.KindTopUp:
		return fmt.Sprintf("%s more for %s, signed by %s: %s", raisedClaims(r.Cost), strings.Join(r.Accounts, ", "),
			console.Shorten(ledger.Fingerprint(r.PublicKey), 8), r.Reason)
	case ledger.KindRecovery:
		return fmt.Sprintf("%s counted as spent, up to the anchor at %d: %s", render.Count(int64(len(r.Balances)), "account"),
			r.AnchorSequence, r.Reason)
	case ledger.KindNote:
		return noteSubject(r.Session)
	case ledger.KindIncident:
		if r.Charge == 0 {
			return fmt.Sprintf("%s; %d and %d are tolerated", r.Failure, r.ByAnalyst, r.ByDataset)
		}
		return fmt.Sprintf("%s, of charge %d; %d and %d are tolerated", r.Failure, r.Charge, r.ByAnalyst, r.ByDataset)
	case ledger.KindRelease:
		return "incidents are released: " + r.Reason
	}
	return ""
}

// noteSubject is what a note is about, which for the ledger's own is said in words.
func noteSubject(session string) string {
	if anchored, says := ledger.NotesAnchor(session); says && anchored {
		return "from here on the ledger has an anchor"
	} else if says {
		return "from here on the ledger has " + session
	}
	if dataset, ok := ledger.NotesProtected(session); ok {
		return "whom the charges of " + dataset + " protect"
	}
	return "of " + session
}

// raisedClaims shows the claims that a top-up raises.
func raisedClaims(c dp.Cost) string {
	limit := dp.Cost{Epsilon: dp.Unbounded, Rho: dp.Unbounded}
	if c.Epsilon > 0 {
		limit.Epsilon = 0
	}
	if c.Rho > 0 {
		limit.Rho = 0
	}
	return limitedClaims(limit, c)
}
