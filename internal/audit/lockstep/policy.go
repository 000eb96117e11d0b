package lockstep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/audit/finding"
	"github.com/discreet-dp/discreet/internal/fiction"
	"github.com/discreet-dp/discreet/policy"
)

// Options say how long to search. The zero value takes a few seconds for a policy of a
// few tables.
type Options struct {
	// Seed makes other databases and other noise. The same seed finds the same.
	Seed uint64
	// Pairs is how many pairs of neighbours each question is replayed on; 0 means 10.
	Pairs int
	// Questions are asked besides those that are made up, in every dataset.
	Questions []string
	// System is what is put to the test; nil means [Discreet].
	System System
}

// Policy replays questions on made-up neighbours under the policy at path, and returns a
// finding for every question. It reads that file and no other: neither the data
// nor the ledger is opened.
func Policy(ctx context.Context, path string, o Options) ([]finding.Finding, error) {
	p, err := policy.Load(path)
	if err != nil {
		return nil, err
	}
	if o.Pairs == 0 {
		o.Pairs = 10
	}
	folder, err := os.MkdirTemp("", "discreet-replay-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var out []finding.Finding
	for _, name := range p.Names() {
		found, err := replayDataset(ctx, p.Datasets[name], filepath.Join(folder, name), o)
		if err != nil {
			return nil, fmt.Errorf("replay %s: %w", name, err)
		}
		for _, f := range found {
			if len(p.Datasets) > 1 {
				f.Subject = name + ": " + f.Subject
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// auditorsDataset is a dataset for an auditor, who can pay for every question.
func auditorsDataset(ds *policy.Dataset) *policy.Dataset { return fiction.Endless(ds, "auditor") }

// replayDataset replays the questions of one dataset.
func replayDataset(ctx context.Context, ds *policy.Dataset, folder string, o Options) ([]finding.Finding, error) {
	audited := auditorsDataset(ds)
	var tallies []*tally
	for _, q := range append(Corpus(audited), o.Questions...) {
		tallies = append(tallies, &tally{question: q})
	}
	for i := range o.Pairs {
		p, err := Neighbours(ctx, audited, filepath.Join(folder, fmt.Sprint(i)), o.Seed, i)
		if err != nil {
			return nil, err
		}
		for _, t := range tallies {
			t.try(ctx, o.System, p, o.Seed+uint64(i))
		}
		if err := p.Close(); err != nil {
			return nil, err
		}
		// An outcome of a question that nobody waited for is no outcome.
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	var out []finding.Finding
	for _, t := range tallies {
		out = append(out, t.finding())
	}
	reused, err := findReusedNoise(ctx, audited, filepath.Join(folder, "empty"), o)
	if err != nil {
		return nil, err
	}
	return append(out, reused...), nil
}
