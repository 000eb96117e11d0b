package lockstep

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/fakedata"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Options say how long to search. The zero value takes a few seconds for a policy of a few tables.
type Options struct {
	// Seed makes other databases and other noise. The same seed finds the same.
	Seed uint64
	// Pairs is how many pairs of neighbours each question is replayed on; 0 means 10.
	Pairs int
	// Questions are asked besides those that are made up, in every dataset.
	Questions []string
	// System is what is put to the test; nil means [OpenCurator].
	System System

	choose func([]string) []string // of the questions that are made up; nil means all
}

// Policy replays questions on made-up neighbours under the policy at path, and returns a finding
// for every question. It reads that file and no other: neither the data nor the ledger is opened.
func Policy(ctx context.Context, path string, o Options) ([]enumerate.Finding, error) {
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
	var out []enumerate.Finding
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
func auditorsDataset(ds *policy.Dataset) *policy.Dataset {
	return fakedata.EndlessBudget(ds, "auditor")
}

func replayDataset(ctx context.Context, ds *policy.Dataset, folder string, o Options) ([]enumerate.Finding, error) {
	audited := auditorsDataset(ds)
	var tallies []*tally
	questions := Corpus(audited)
	if o.choose != nil {
		questions = o.choose(questions)
	}
	for _, q := range append(questions, o.Questions...) {
		tallies = append(tallies, &tally{question: q})
	}
	for i := range o.Pairs {
		p, err := MakePair(ctx, audited, filepath.Join(folder, fmt.Sprint(i)), o.Seed, i)
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
	var out []enumerate.Finding
	for _, t := range tallies {
		out = append(out, t.finding())
	}
	reused, err := findReusedNoise(ctx, audited, filepath.Join(folder, "empty"), o)
	if err != nil {
		return nil, err
	}
	return append(out, reused...), nil
}

// CompareAnswers asks a question of two neighbouring databases with the same randomness, and
// says whether anything differs that must not. Lower is how far the exact values are
// apart, as a part of what the noise was calibrated to, and Claim is 1.
func CompareAnswers(ctx context.Context, s System, a, b Database, question string, seed uint64) enumerate.Finding {
	t := tally{question: question}
	t.try(ctx, s, Pair{Name: "these two", A: a, B: b}, seed)
	return t.finding()
}

// tally is what is known about one question.
type tally struct {
	question       string
	pairs, moved   int
	answered       int
	worst          float64
	where, problem string
}

// try replays the question on one more pair. After the first counterexample there is
// nothing more to find.
func (t *tally) try(ctx context.Context, s System, p Pair, seed uint64) {
	if t.problem != "" {
		return
	}
	var prepared *tree.Plan
	public := false
	if st, err := planner.Prepare(p.A.Dataset, t.question, peopleOptions(p.A.Dataset)); err == nil {
		if public = st.Free(); st.Outer == nil && len(st.Plans) > 0 {
			prepared = st.Plans[0]
		}
	}
	other := make(chan outcome)
	go func() { other <- s.open(p.B, seed).ask(ctx, p.B, t.question) }()
	a := s.open(p.A, seed).ask(ctx, p.A, t.question)
	b := <-other
	ratio, err := judge(prepared, a, b)
	if public {
		ratio, err = 0, judgePublic(a, b)
	}
	t.pairs++
	if ratio > 0 {
		t.moved++
	}
	if a.answer != nil {
		t.answered++
	}
	if ratio > t.worst || t.where == "" {
		t.worst, t.where = ratio, p.Name
	}
	if err != nil {
		t.where, t.problem = p.Name, err.Error()
	}
}

func (t *tally) finding() enumerate.Finding {
	f := enumerate.Finding{Subject: t.question, Check: "replay", Claim: 1, Lower: t.worst, Samples: t.pairs, Stands: t.problem == ""}
	switch {
	case t.problem != "":
		f.Detail = fmt.Sprintf("%s: %s", t.where, t.problem)
	case t.answered == 0:
		f.Detail = fmt.Sprintf("refused alike on %d pairs of neighbours", t.pairs)
	case t.moved == 0:
		f.Detail = fmt.Sprintf("%d pairs of neighbours, and nobody moved it", t.pairs)
	default:
		f.Detail = fmt.Sprintf("%d pairs of neighbours, %d of them apart, the farthest: %s", t.pairs, t.moved, t.where)
	}
	return f
}

// reuseRounds is how often two questions are asked. Two draws of the same noise, whose
// parameter is at least 1, are equal with a probability below one half, and so all of
// them are with less than 2^-40.
const reuseRounds = 40

// findReusedNoise looks for noise that is used twice, which would take itself away in a difference
// of answers. In an empty database every exact value is 0, so an answer is its noise and nothing
// has to be opened to see it. Two questions that differ are asked one after the other, and their
// noise must not agree whatever the randomness.
func findReusedNoise(ctx context.Context, ds *policy.Dataset, folder string, o Options) ([]enumerate.Finding, error) {
	made, err := schemaOf(ds).write(ds, folder, detrand.New("empty", o.Seed), nil)
	if err != nil {
		return nil, err
	}
	e, err := duckdb.Open(ctx, made)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	d := Database{made, e}
	var out []enumerate.Finding
	for _, t := range made.TableNames() {
		columns := made.Tables[t].ColumnNames()
		if len(columns) == 0 {
			continue
		}
		first := "SELECT COUNT(*) FROM " + quoteName(t)
		second := first + " WHERE " + quoteName(columns[0]) + " IS NOT NULL"
		f := enumerate.Finding{Subject: first + " and then " + second, Check: "replay", Claim: 1, Stands: true,
			Detail: "the two have different noise"}
		equal := 0
		for i := range reuseRounds {
			s := o.System.open(d, o.Seed+uint64(i))
			a, b := s.ask(ctx, d, first), s.ask(ctx, d, second)
			if a.answer == nil || b.answer == nil || !hasWideNoise(a) {
				break // refused or unable to be paid for, or with hardly any noise to compare
			}
			f.Samples++
			if shownAnswer(a.answer) == shownAnswer(b.answer) {
				equal++
			}
		}
		if f.Samples < reuseRounds {
			continue
		}
		if equal == reuseRounds {
			f.Stands, f.Detail = false, fmt.Sprintf("the noise of the two is equal in %d of %d attempts", equal, reuseRounds)
		}
		out = append(out, f)
	}
	return out, nil
}

// hasWideNoise reports whether all noise has a parameter of at least 1.
func hasWideNoise(o outcome) bool {
	for _, c := range o.calls {
		if c.Parameter.Cmp(big.NewRat(1, 1)) < 0 {
			return false
		}
	}
	return true
}

// WriteFindings writes a line for each finding, those that do not stand first, and a summary.
func WriteFindings(w io.Writer, findings []enumerate.Finding) error {
	broken, worst := 0, 0.0
	for _, f := range findings {
		if !f.Stands {
			broken++
			if _, err := fmt.Fprintf(w, "BROKEN  %s\n        %s\n", f.Subject, f.Detail); err != nil {
				return err
			}
		}
	}
	for _, f := range findings {
		if !f.Stands {
			continue
		}
		worst = max(worst, f.Lower)
		if _, err := fmt.Fprintf(w, "stands  %.3f  %s (%s)\n", f.Lower, f.Subject, f.Detail); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d questions, %d broken; in the others one person moves the exact values by at most %.3f of what the "+
		"noise covers\n", len(findings), broken, worst)
	return err
}
