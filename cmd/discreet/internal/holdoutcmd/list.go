package holdoutcmd

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/table"
)

type holdoutListCmd struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"Only this dataset." placeholder:"NAME"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (holdoutListCmd) Help() string {
	return `Prints what is public about the holdouts: what is asked of each, over how many people, what a round costs, how ` +
		`exact its answers are with probability
0.95, how many answers from the holdout are left, and how far scores can be from the truth, however often one tries. It is free.

  discreet holdout list --policy trial.yaml`
}

// holdoutWithStatus is a holdout, and how far it is.
type holdoutWithStatus struct {
	api.HoldoutInfo
	IDs *bool `json:"ids,omitempty"` // hides that of the info: id says more
	*api.HoldoutStatus
}

func (c *holdoutListCmd) Run(ctx context.Context, s console.Screen) error {
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	names := []string{c.Dataset}
	if c.Dataset == "" {
		names = db.Policy().Names()
	}
	all := []holdoutWithStatus{}
	for _, name := range names {
		infos, err := db.Holdouts(name)
		if err != nil {
			return err
		}
		for _, i := range infos {
			status, err := db.HoldoutStatus(ctx, name, i.Name)
			if err != nil {
				return err
			}
			all = append(all, holdoutWithStatus{HoldoutInfo: i, HoldoutStatus: &status})
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"holdouts": all})
	}
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "the policy has no holdouts")
		return nil
	}
	t := &table.Table{
		Header: []string{"dataset", "holdout", "asked with", "people", "threshold", "noise", "left", "of", "a round, epsilon", "rho",
			"confirmed within", "answered within"},
		Right: []bool{false, false, false, true, true, true, true, true, true, true, true, true},
	}
	for _, h := range all {
		with := "predictions of " + h.Column
		if h.ID != "" {
			with += " by " + h.ID
		}
		if !h.Labels {
			with = "SQL over " + h.Table
		}
		t.Add(h.Dataset, h.Name, with, fmt.Sprint(h.Size), h.Threshold, h.Noise, fmt.Sprint(h.Left), fmt.Sprint(h.Answers),
			h.Round.Epsilon.Short(), h.Round.Rho.Short(),
			fmt.Sprintf("%.4f", h.Confirmed), fmt.Sprintf("%.4f", h.Answered))
	}
	t.Write(s.Out)
	fmt.Fprintln(s.Out, "a round is all scores up to and including the next one that the holdout contradicts; its "+
		"first question pays for it")
	for _, h := range all {
		fmt.Fprintln(s.Out, promiseWords(h.HoldoutInfo))
	}
	return nil
}

// promiseWords says what theorems promise about a holdout.
func promiseWords(h api.HoldoutInfo) string {
	if h.Promised == nil {
		return h.Name + ": NOTHING is promised about how far scores are from those on new data, and who tries often enough can fit " +
			"this holdout: take fewer answers, more noise or more people, by discreet holdout plan"
	}
	truth := "the mean over everybody whom its people were drawn from"
	if h.Labels {
		truth = "what the same predictions would score on average if the labels were drawn anew"
	}
	return fmt.Sprintf("%s: with probability %v no score that it tells, of however many, is farther than %s from %s, as long as nothing "+
		"else was or is told about these people", h.Name, api.Confidence, console.RoundOutward(*h.Promised, 3, true), truth)
}
