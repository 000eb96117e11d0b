package lockstep

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/plan"
)

var full = flag.Bool("full", false, "replay on more pairs")

// TestHostile sends what attackers would ask through the whole system, on neighbouring databases
// and with the same randomness: outcome, text, shape and charge are the same, and values are no
// farther apart than their noise was made for.
func TestHostile(t *testing.T) {
	data, err := os.ReadFile("../generate/testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	pairs := 2
	if *full {
		pairs = 4
	}
	if testing.Short() {
		pairs = 1
	}
	for _, world := range generate.Worlds()[:2] { // the clinic, under both relations
		ds := audited(world)
		ds.Budget.DefaultEpsilon, ds.Budget.MaxEpsilon = dp.One, ds.Budget.Epsilon
		var tallies []*tally
		answered := 0
		for _, family := range strings.Split(string(data), "\n== ")[1:] {
			_, rest, _ := strings.Cut(family, "\n")
			for block := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
				_, text, _ := strings.Cut(strings.TrimSpace(block), "\n")
				st, err := plan.Prepare(ds, text, plan.Options{})
				if err == nil && !st.Free() && len(st.Plans[0].Query.PrivateKeys()) > 0 {
					continue // which keys are shown may differ, with the probability that is paid for
				}
				if err == nil {
					answered++
				}
				tallies = append(tallies, &tally{question: text})
			}
		}
		if len(tallies) < 150 || answered < 40 {
			t.Errorf("%d questions, %d of them answered, are too few", len(tallies), answered)
		}
		for i := range pairs {
			p, err := Neighbours(t.Context(), ds, t.TempDir(), 5, i)
			if err != nil {
				t.Fatal(err)
			}
			for _, y := range tallies {
				y.try(t.Context(), nil, p, uint64(i))
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		answers, moved := 0, 0
		for _, y := range tallies {
			answers, moved = answers+y.answered, moved+y.moved
			if f := y.finding(); !f.Stands {
				t.Errorf("%s: %s", f.Subject, f.Detail)
			}
		}
		t.Logf("%d questions, %d answers, %d of them moved by one person", len(tallies), answers, moved)
		if answers < pairs*40 || moved < pairs*10 {
			t.Errorf("%d answers, %d of them moved, are too few", answers, moved)
		}
	}
}
