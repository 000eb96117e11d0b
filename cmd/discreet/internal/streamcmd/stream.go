// Package streamcmd has the commands of discreet stream: counting questions on one budget, and
// their rehearsal.
package streamcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

// StreamCmd rehearses where nothing else is said.
type StreamCmd struct {
	Rehearse  streamRehearseCmd  `cmd:"" default:"withargs" help:"Replay a file of questions, and say what they would cost and how far off they would be. Nothing is charged. The default."`
	Ask       streamAskCmd       `cmd:"" help:"Ask counting questions, of which only those are paid for that cannot be predicted."`
	List      streamListCmd      `cmd:"" help:"Show the streams of a policy: what can be asked, how exact answers are, what they cost."`
	Report    streamReportCmd    `cmd:"" help:"Show how many questions were free and paid so far."`
	Synthetic streamSyntheticCmd `cmd:"" help:"Write the table that a stream predicts, as CSV or Parquet."`
}

func (StreamCmd) Help() string {
	return `A stream answers very many counting questions on one budget: it predicts each from the answers that were released, tests
the prediction on the data, and pays only where it is wrong. The policy declares streams; see docs/policy.md.

  discreet stream --policy clinic.yaml --workload questions.txt
  discreet stream ask --policy clinic.yaml --as ana "sex = 'F' AND age >= 30"
  discreet stream synthetic --policy clinic.yaml --as ana -o people.csv

'discreet demo stream clinic' writes a clinic with a stream, and a workload, to try this on.`
}

// streamFlags say which stream.
type streamFlags struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"The dataset, where the policy has several with streams." placeholder:"NAME"`
	Stream  string `help:"The stream, where the dataset has several." placeholder:"NAME"`
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
		return nil, console.Misuse(errors.New("there is no stream in the policy; add one under 'streams:' of a " +
			"dataset, as docs/policy.md shows"))
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
