package ownercmd

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/ledger"
)

type incidentsListCmd struct {
	console.LedgerFlags
	Unanswered bool `help:"List the charges without an answer too, also of ledgers from before there were incidents."`
	JSON       bool `help:"Print JSON." name:"json"`
}

func (incidentsListCmd) Help() string {
	return `Lists the questions that failed after their charge. Whether one fails can depend on the data, so each that an analyst was
told of may be worth a bit about somebody. The dataset then gives the analyst no new answers, until you release it. A crash
is a process that died while a charge had no answer; it counts for the dataset, and for the analyst
whose questions alone were under way.

With --unanswered also the charges that nothing came of: canceled by the analyst, cut off by the end of a process, or
failed. In a ledger from before there were incidents these are where failures were, if there were any.

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
	var book ledger.Casebook
	for line, err := range r.Records() {
		if err != nil {
			return err
		}
		book.Add(line.Record)
	}
	doors, open := closedDatasets(&book), withoutSessions(book.Unanswered())
	if c.JSON {
		out := map[string]any{"incidents": append([]ledger.Case{}, book.Incidents...), "closed": doors}
		if c.Unanswered {
			out["unanswered"] = open
		}
		return console.PrintJSON(s.Out, out)
	}
	printIncidents(s, book.Incidents)
	for _, d := range doors {
		gives := "nobody"
		if d.Analyst != "" {
			gives = table.Clean(d.Analyst) + " no"
		}
		fmt.Fprintf(s.Out, "%s gives %s new answers. 'discreet incidents release' ends that, when you know what it was\n",
			table.Clean(d.Dataset), gives)
	}
	if c.Unanswered {
		printUnanswered(s, open, book.Incidents)
	}
	return nil
}

// closedDatasets lists the doors that are closed.
func closedDatasets(book *ledger.Casebook) []closedDataset {
	out := []closedDataset{}
	for _, i := range book.Incidents {
		for _, who := range []string{"", i.Analyst} {
			d := closedDataset{i.Dataset, who}
			if who != "" && slices.Contains(out, closedDataset{i.Dataset, ""}) || slices.Contains(out, d) {
				continue
			}
			if book.Door(i.Dataset, who).Closed {
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
	t := table.Table{Header: []string{"record", "time", "dataset", "analyst", "failure", "charge", "state"}}
	for _, i := range all {
		charge := ""
		if i.Charge > 0 {
			charge = fmt.Sprint(i.Charge)
		}
		state := "counts"
		switch {
		case !i.Told:
			state = "was told to nobody"
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
	t := table.Table{Header: []string{"record", "time", "dataset", "analyst", "request", "question", "incident"}}
	for _, u := range all {
		incident := "none was recorded"
		if u.Incident > 0 {
			incident = fmt.Sprint(u.Incident)
		} else if crash := crashAfter(u, incidents); crash > 0 {
			incident = fmt.Sprintf("perhaps crash %d", crash)
		}
		t.Add(fmt.Sprint(u.Sequence), console.Timestamp(u.Time), u.Dataset, u.Analyst, u.Request, console.Shorten(u.Query, 12), incident)
	}
	t.Write(s.Out)
}

// crashAfter is the first crash of the dataset after a charge, which may have been that of its
// question; 0 where there is none.
func crashAfter(u ledger.Unanswered, incidents []ledger.Case) uint64 {
	for _, i := range incidents {
		if i.Failure == ledger.FailedCrash && i.Dataset == u.Dataset && i.Sequence > u.Sequence {
			return i.Sequence
		}
	}
	return 0
}
