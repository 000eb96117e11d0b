package streamcmd

import (
	"context"
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/stream"
)

type streamReportCmd struct{ streamFlags }

func (streamReportCmd) Help() string {
	return `Prints how many questions the streams of a policy were asked, how many of them were free and paid, what was spent, and what
it would have cost to remember answers only, or to pay for every question. Repeated, unchecked and refused questions leave no trace, and are counted
only in the process that answers them: the report of a running server has them (.../report), and this one begins with none.

  discreet stream report --policy clinic.yaml`
}

// streamReport are the books of one stream.
type streamReport struct {
	Dataset string `json:"dataset"`
	Stream  string `json:"stream"`
	*stream.Report
}

func (c *streamReportCmd) Run(ctx context.Context, s console.Screen) error {
	db, all, err := c.openAll(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	out := []streamReport{}
	for _, info := range all {
		done := console.Waiting(s.Err, "reading "+info.Name)
		r, err := db.StreamReport(ctx, info.Dataset, info.Name)
		done()
		if err != nil {
			return err
		}
		out = append(out, streamReport{info.Dataset, info.Name, r})
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"streams": out})
	}
	t := &table.Table{Header: []string{"stream", "asked", "different", "paid", "plain", "cached", "predicted", "unchecked", "refused",
		"spent", "cache alone", "no reuse"},
		Right: []bool{false, true, true, true, true, true, true, true, true, true, true, true}}
	for _, b := range out {
		t.Add(b.Dataset+"/"+b.Stream, strconv.Itoa(b.Asked), strconv.Itoa(b.Different), strconv.Itoa(b.Paid), strconv.Itoa(b.Plain),
			strconv.Itoa(b.Cached), strconv.Itoa(b.Predicted),
			strconv.Itoa(b.Unchecked), strconv.Itoa(b.Refused), render.Cost(b.Spent), render.Cost(b.Cache), render.Cost(b.Naive))
	}
	t.Write(s.Out)
	fmt.Fprintln(s.Out, "paid: the test did not agree with what was predicted; plain: paid for without a test; predicted: the test "+
		"agreed; unchecked: predicted when the budget was gone")
	fmt.Fprintln(s.Out, "cached, unchecked and refused questions leave no trace when a process ends, so they are not "+
		"in asked or no reuse here")
	return nil
}
