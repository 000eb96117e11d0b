package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/render"
)

// StreamCmd rehearses where nothing else is said.
type StreamCmd struct {
	Rehearse  streamRehearseCmd  `cmd:"" charges:"never" default:"withargs" help:"Replay a file of questions, and show what they would cost and how far off the answers would be. Nothing is charged. The default."`
	Ask       streamAskCmd       `cmd:"" help:"Ask counting questions, and pay only for those that cannot be predicted."`
	List      streamListCmd      `cmd:"" charges:"never" help:"Show the streams of a policy: what can be asked, how exact answers are, what they cost."`
	Report    streamReportCmd    `cmd:"" charges:"never" help:"Show how many questions have been free and paid so far."`
	Synthetic streamSyntheticCmd `cmd:"" charges:"never" help:"Write the table that a stream predicts, as CSV or Parquet."`
}

func (StreamCmd) Help() string {
	return `A stream answers very many counting questions on one budget: it predicts each from released answers, tests the
prediction on the data, and pays only if it is wrong. The policy declares streams; see docs/policy-tables.md.

  discreet stream --policy clinic.yaml --workload questions.txt
  discreet stream ask --policy clinic.yaml --as ana "sex = 'F' AND age >= 30"
  discreet stream synthetic --policy clinic.yaml --as ana -o people.csv

'discreet demo stream clinic' writes a clinic with a stream, and a workload, to try this on.`
}

type streamFlags struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"The dataset, if the policy has several with streams." placeholder:"NAME"`
	Stream  string `help:"The stream, if the dataset has several." placeholder:"NAME"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

// openAll opens the policy and finds the streams that the flags mean.
func (f streamFlags) openAll(ctx context.Context) (*discreet.DB, []api.StreamInfo, error) {
	db, err := discreet.Open(ctx, f.Policy)
	if err != nil {
		return nil, nil, err
	}
	all, err := f.find(db)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, all, nil
}

// openOne opens the policy and finds the only stream that the flags mean.
func (f streamFlags) openOne(ctx context.Context) (*discreet.DB, api.StreamInfo, error) {
	db, all, err := f.openAll(ctx)
	if err != nil {
		return nil, api.StreamInfo{}, err
	}
	if len(all) > 1 {
		return nil, api.StreamInfo{}, errors.Join(console.Misuse(fmt.Errorf("there are several streams; name one of %s",
			streamNames(all))), db.Close())
	}
	return db, all[0], nil
}

// find returns the streams that the flags mean: one at least.
func (f streamFlags) find(db *discreet.DB) ([]api.StreamInfo, error) {
	names := db.Policy().Names()
	if f.Dataset != "" {
		if !slices.Contains(names, f.Dataset) {
			return nil, console.Misuse(fmt.Errorf("the policy has no dataset %q; name one of %s", f.Dataset, strings.Join(names, ", ")))
		}
		names = []string{f.Dataset}
	}
	var all, out []api.StreamInfo
	for _, name := range names {
		some, err := db.Streams(name)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	for _, s := range all {
		if f.Stream == "" || s.Name == f.Stream {
			out = append(out, s)
		}
	}
	switch {
	case len(all) == 0:
		return nil, console.Misuse(errors.New("the policy has no streams; add one under 'streams:' of a dataset, as " +
			"docs/policy-tables.md shows"))
	case len(out) == 0:
		return nil, console.Misuse(fmt.Errorf("there is no stream %q; name one of %s", f.Stream, streamNames(all)))
	}
	return out, nil
}

// streamNames spell the flags that choose one of several.
func streamNames(all []api.StreamInfo) string {
	var out []string
	for _, s := range all {
		out = append(out, fmt.Sprintf("--dataset %s --stream %s", console.ShellQuote(s.Dataset), console.ShellQuote(s.Name)))
	}
	return strings.Join(out, ", ")
}

type streamListCmd struct{ streamFlags }

func (streamListCmd) Help() string {
	return `Shows what the policy says about its streams: the columns for conditions, the number of cells, how exact answers are and
with which probability, and the price of a wrong prediction. Nothing is read from the data.

  discreet stream list --policy clinic.yaml`
}

func (c *streamListCmd) Run(ctx context.Context, s console.Screen) error {
	db, all, err := c.openAll(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"streams": all})
	}
	for i, info := range all {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		printStream(s.Out, info)
	}
	return nil
}

// maxShownValues is how many values of an attribute are shown.
const maxShownValues = 12

func printStream(w io.Writer, s api.StreamInfo) {
	fmt.Fprintf(w, "%s of %s, over the table %s\n", s.Name, s.Dataset, s.Table)
	for _, a := range s.Attributes {
		fmt.Fprintf(w, "  %s: %s\n", a.Name, console.CleanLines(valueWords(a.Values)))
	}
	fmt.Fprintf(w, "  %d cells. Answers are off by at most %d (alpha %v of %d people), for all of %d different ones together with "+
		"probability %v\n",
		s.Cells, s.Error, s.Alpha, s.Size, s.Queries, 1-s.Beta)
	fmt.Fprintf(w, "  predicted by %s. A round of tests, up to the first that disagrees, costs %s, and there can be %d; an answer "+
		"without a test costs %s, and there can be %d\n", s.Predictor, render.Cost(s.Round), s.MostPaid, render.Cost(s.Plain), s.MostPlain)
}

// valueWords leaves out the middle of a long list.
func valueWords(all []string) string {
	if len(all) <= maxShownValues {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:maxShownValues-2], ", ") + ", ..., " + all[len(all)-1] + fmt.Sprintf(" (%d)", len(all))
}

type streamReportCmd struct{ streamFlags }

func (streamReportCmd) Help() string {
	return `Shows how many questions the streams of a policy were asked, how many of them were free and paid, what was spent, and
what it would have cost only to remember answers, or to pay for every question. Repeated, unchecked and refused questions
leave no trace, and only the process that answers them counts them: the report of a running server has them (.../report),
and this one begins with none.

  discreet stream report --policy clinic.yaml`
}

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
	t := &render.Table{Header: []string{"stream", "asked", "different", "paid", "plain", "cached", "predicted", "unchecked", "refused",
		"spent", "cache alone", "no reuse"},
		Right: []bool{false, true, true, true, true, true, true, true, true, true, true, true}}
	for _, b := range out {
		t.Add(b.Dataset+"/"+b.Stream, strconv.Itoa(b.Asked), strconv.Itoa(b.Different), strconv.Itoa(b.Paid), strconv.Itoa(b.Plain),
			strconv.Itoa(b.Cached), strconv.Itoa(b.Predicted),
			strconv.Itoa(b.Unchecked), strconv.Itoa(b.Refused), render.Cost(b.Spent), render.Cost(b.Cache), render.Cost(b.Naive))
	}
	t.Write(s.Out)
	fmt.Fprintln(s.Out, "paid: the test disagreed with the prediction; plain: paid for without a test; predicted: the test agreed; "+
		"unchecked: predicted after the budget was used up")
	fmt.Fprintln(s.Out, "cached, unchecked and refused questions leave no trace when a process ends, so the columns asked and no "+
		"reuse leave them out here")
	return nil
}
