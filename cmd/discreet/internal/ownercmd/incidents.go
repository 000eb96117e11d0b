package ownercmd

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

type IncidentsCmd struct {
	List    incidentsListCmd    `cmd:"" default:"withargs" help:"List questions that failed after their charge."`
	Release incidentsReleaseCmd `cmd:"" help:"Let one analyst, or everybody, get new answers again."`
}

func (IncidentsCmd) Help() string {
	return `Without a command it lists incidents, with the flags of 'discreet incidents list --help'. These commands work while
a server runs, on its machine, as its user or root. From elsewhere, release with --server, and list with /v1/ledger.

  discreet incidents --policy hospital.yaml
  discreet incidents release --policy hospital.yaml --analyst ana --reason 'the disk was full'`
}

type incidentsListCmd struct {
	console.LedgerFlags
	Unanswered bool `help:"Also list the charges without an answer, even in ledgers from before incidents were recorded."`
	JSON       bool `help:"Print JSON." name:"json"`
}

func (incidentsListCmd) Help() string {
	return `Lists the questions that failed after their charge. Whether a question fails can depend on the data, so each
failure that an analyst is told of may be worth a bit about somebody. The dataset then gives the analyst no new
answers until you release it. A crash is a process that died while a charge had no answer; it counts for the
dataset, and for an analyst if only their questions were under way.

With --unanswered it also lists charges without an answer: canceled by the analyst, cut off by the end of a
process, or failed. In a ledger from before incidents were recorded, any failures are among these.

  discreet incidents list --policy hospital.yaml
  discreet incidents list --policy hospital.yaml --unanswered`
}

// closedDataset is a dataset that gives somebody no new answers.
type closedDataset struct {
	Dataset string `json:"dataset"`
	Analyst string `json:"analyst"` // empty for everybody
}

func (c *incidentsListCmd) Run(s console.Screen) error {
	r, _, err := c.Read()
	if err != nil {
		return err
	}
	defer r.Close()
	var cases ledger.Casebook
	for line, err := range r.Records() {
		if err != nil {
			return err
		}
		cases.Add(line.Record)
	}
	closed, open := closedDatasets(&cases), withoutSessions(cases.Unanswered())
	if c.JSON {
		out := map[string]any{"incidents": append([]ledger.Case{}, cases.Incidents...), "closed": closed}
		if c.Unanswered {
			out["unanswered"] = open
		}
		return console.PrintJSON(s.Out, out)
	}
	printIncidents(s, cases.Incidents)
	for _, d := range closed {
		gives := "nobody"
		if d.Analyst != "" {
			gives = render.Clean(d.Analyst) + " no"
		}
		fmt.Fprintf(s.Out, "%s gives %s new answers. When you know the cause, 'discreet incidents release' ends that\n",
			render.Clean(d.Dataset), gives)
	}
	if c.Unanswered {
		printUnanswered(s, open, cases.Incidents)
	}
	return nil
}

func closedDatasets(cases *ledger.Casebook) []closedDataset {
	out := []closedDataset{}
	for _, i := range cases.Incidents {
		for _, who := range []string{"", i.Analyst} {
			d := closedDataset{i.Dataset, who}
			if who != "" && slices.Contains(out, closedDataset{i.Dataset, ""}) || slices.Contains(out, d) {
				continue
			}
			if cases.Lockout(i.Dataset, who).Closed {
				out = append(out, d)
			}
		}
	}
	return out
}

// withoutSessions are those that paid for no session, which never has an answer.
func withoutSessions(all []ledger.Unanswered) []ledger.Unanswered {
	out := []ledger.Unanswered{}
	for _, u := range all {
		if !u.Session {
			out = append(out, u)
		}
	}
	return out
}

func printIncidents(s console.Screen, all []ledger.Case) {
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "no incidents")
		return
	}
	t := render.Table{Header: []string{"record", "time", "dataset", "analyst", "failure", "charge", "state"}}
	for _, i := range all {
		charge := ""
		if i.Charge > 0 {
			charge = fmt.Sprint(i.Charge)
		}
		state := "counts"
		switch {
		case !i.Told:
			state = "nobody was told"
		case i.Released > 0:
			state = fmt.Sprintf("released by record %d", i.Released)
		}
		t.Add(fmt.Sprint(i.Sequence), console.Timestamp(i.Time), i.Dataset, i.Analyst, string(i.Failure), charge, state)
	}
	t.Write(s.Out)
}

func printUnanswered(s console.Screen, all []ledger.Unanswered, incidents []ledger.Case) {
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "every charge of a question has its answer")
		return
	}
	fmt.Fprintf(s.Out, "%s without an answer:\n", render.Count(int64(len(all)), "charge"))
	t := render.Table{Header: []string{"record", "time", "dataset", "analyst", "request", "question", "incident"}}
	for _, u := range all {
		incident := "none was recorded"
		if u.Incident > 0 {
			incident = fmt.Sprint(u.Incident)
		} else if crash := CrashAfter(u, incidents); crash > 0 {
			incident = fmt.Sprintf("perhaps crash %d", crash)
		}
		t.Add(fmt.Sprint(u.Sequence), console.Timestamp(u.Time), u.Dataset, u.Analyst, u.Request, console.Shorten(u.Query, 12), incident)
	}
	t.Write(s.Out)
}

// CrashAfter is the first crash of the dataset after a charge, which may have been that of its
// question; 0 where there is none.
func CrashAfter(u ledger.Unanswered, incidents []ledger.Case) uint64 {
	for _, i := range incidents {
		if i.Failure == ledger.FailedCrash && i.Dataset == u.Dataset && i.Sequence > u.Sequence {
			return i.Sequence
		}
	}
	return 0
}

type incidentsReleaseCmd struct {
	console.ServerFlags
	Policy  string `help:"The policy file." placeholder:"FILE" short:"p"`
	Dataset string `help:"The dataset, if the policy has several." placeholder:"NAME"`
	Analyst string `help:"Only the incidents of this analyst; without it, all of the dataset." placeholder:"NAME"`
	Key     string `help:"The file with the owner's key, if the ledger has an owner." placeholder:"KEYFILE"`
	Reason  string `help:"The reason, for later readers of the ledger." required:"" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (incidentsReleaseCmd) Help() string {
	return `Releases the incidents of an analyst, or of the whole dataset, with a record in the ledger, so that there are new
answers again. Do it once you know what failed: each release lets analysts see as many failures again as the
policy allows. If the ledger has an owner, it takes the owner's key. A crash that names nobody is released with
the whole dataset.

  discreet incidents release --policy hospital.yaml --analyst ana --reason 'the disk was full'
  discreet incidents release --policy hospital.yaml --key owner.key --reason 'a bug, mended in 1.2'
  discreet incidents release --server https://db.example:8432 --token-file owner.token --key owner.key --reason mended`
}

// remote does it at a server that runs, which always takes the key.
func (c *incidentsReleaseCmd) remote(ctx context.Context, s console.Screen, server *console.Client, signer crypto.Signer) error {
	key, ok := signer.(ed25519.PrivateKey)
	if !ok {
		return console.Misuse(errors.New("a release at a server takes the owner's key: name its file with --key"))
	}
	dataset, err := server.Dataset(ctx, c.Dataset)
	if err != nil {
		return err
	}
	in := map[string]any{"reason": c.Reason}
	if c.Analyst != "" {
		in["analyst"] = c.Analyst
	}
	var out struct {
		Sequence uint64 `json:"sequence"`
		Released int    `json:"released"`
		Closed   bool   `json:"closed"`
	}
	if err := server.Sign(ctx, "/v1/datasets/"+dataset+"/releases", in, ledger.KindRelease, key, &out); err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, out)
	}
	fmt.Fprintf(s.Out, "released %d incidents, by record %d\n", out.Released, out.Sequence)
	if out.Closed {
		fmt.Fprintln(s.Out, stillClosedNote)
	}
	return nil
}

const stillClosedNote = "the dataset is still closed because of incidents of others: 'discreet incidents' lists them"

func (c *incidentsReleaseCmd) Run(ctx context.Context, s console.Screen) error {
	var signer crypto.Signer
	if c.Key != "" {
		key, err := ownerkey.Load(c.Key)
		if err != nil {
			return err
		}
		signer = key
	}
	if server, err := c.Open(c.Policy); err != nil || server != nil {
		if err != nil {
			return err
		}
		return c.remote(ctx, s, server, signer)
	}
	db, err := discreet.Open(ctx, c.Policy, discreet.AsOwner())
	if err != nil {
		return err
	}
	defer db.Close()
	before, err := db.Lockout(ctx, c.Dataset, c.Analyst)
	if err != nil {
		return err
	}
	open, err := openIncidents(ctx, db, c.Dataset)
	if err != nil {
		return err
	}
	if err := RefuseEmptyRelease(open, c.Analyst); err != nil {
		return err
	}
	sequence, err := db.Release(ctx, c.Dataset, c.Analyst, c.Reason, signer)
	if err != nil {
		return err
	}
	after, err := db.Lockout(ctx, c.Dataset, c.Analyst)
	if err != nil {
		return err
	}
	released := before.Incidents - after.Incidents
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"sequence": sequence, "released": released, "left": after.Incidents,
			"closed": after.Closed})
	}
	fmt.Fprintf(s.Out, "released %d of %d incidents, by record %d\n", released, before.Incidents, sequence)
	if after.Closed {
		fmt.Fprintln(s.Out, stillClosedNote)
	}
	return nil
}

// openIncidents are those of a dataset that a release would take back.
func openIncidents(ctx context.Context, db *discreet.DB, dataset string) ([]ledger.Case, error) {
	if dataset == "" { // then there is one, or the release has said so
		dataset = db.Policy().Names()[0]
	}
	var cases ledger.Casebook
	for r, err := range db.Records(ctx, 0) {
		if err != nil {
			return nil, err
		}
		cases.Add(r)
	}
	return slices.DeleteFunc(cases.Incidents, func(c ledger.Case) bool { return c.Dataset != dataset || !c.Told || c.Released > 0 }), nil
}

// RefuseEmptyRelease refuses a release that would take nothing back: as a record it would say that
// somebody looked at what is not there.
func RefuseEmptyRelease(open []ledger.Case, analyst string) error {
	if len(open) == 0 {
		return console.Misuse(errors.New("there is nothing to release: 'discreet incidents' lists what failed"))
	}
	if analyst == "" || slices.ContainsFunc(open, func(c ledger.Case) bool { return c.Analyst == analyst }) {
		return nil
	}
	var whose []string
	crashes := 0
	for _, c := range open {
		if c.Analyst == "" {
			crashes++
			continue
		}
		whose = append(whose, fmt.Sprintf("%s's (record %d)", c.Analyst, c.Sequence))
	}
	text := fmt.Sprintf("%q has nothing to release", analyst)
	if len(whose) > 0 {
		text += "; open incidents are " + joinWords(whose)
	}
	if crashes > 0 {
		text += "; a crash that names nobody is released without --analyst"
	}
	return console.Misuse(errors.New(text))
}

// joinWords puts commas and an 'and' between words.
func joinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
