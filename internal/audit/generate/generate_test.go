package generate_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// TestQuestionsAreValid measures how many questions the planner takes, and what it says of the
// others.
func TestQuestionsAreValid(t *testing.T) {
	for _, ds := range generate.Worlds() {
		o := plan.Options{Public: reference.New(ds, generate.Make(generate.NewDice("public", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		const n = 300
		taken := 0
		reasons := map[string]int{}
		example := map[string]string{}
		for i := range n {
			text := m.Question(generate.NewDice("question", uint64(i)))
			_, err := generate.Prepare(ds, text, o)
			var r *api.Refusal
			switch {
			case err == nil:
				taken++
			case errors.As(err, &r):
				reasons[r.Reason]++
				if old := example[r.Reason]; old == "" || len(text) < len(old) {
					example[r.Reason] = text
				}
			default:
				t.Errorf("not a refusal: %v", err)
			}
		}
		lines, of := m.Lines()
		t.Logf("%s: %d of %d questions are taken; %d of %d lines of the language", ds.Name, taken, n, lines, of)
		for _, r := range slices.SortedFunc(maps.Keys(reasons), func(a, b string) int { return reasons[b] - reasons[a] }) {
			if testing.Verbose() && reasons[r] > 2 {
				fmt.Printf("%4d %s\n     %s\n", reasons[r], r, example[r])
			}
		}
		least := n * 6 / 10
		if ds.Budget.Pure() {
			least = n * 5 / 10 // private keys are refused
		}
		if taken < least {
			t.Errorf("%s: only %d of %d questions are taken", ds.Name, taken, n)
		}
	}
}

// TestTextsAreHarmless sends texts near the grammar: each is refused, at a place inside of it, or
// is a statement that can be priced.
func TestTextsAreHarmless(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 500
	}
	for _, ds := range []int{0, 2} {
		ds := generate.Worlds()[ds]
		o := plan.Options{Public: reference.New(ds, generate.Make(generate.NewDice("public", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		taken := 0
		for i := range n {
			text := m.Text(generate.NewDice("text", uint64(i)))
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%q: panic: %v", text, r)
					}
				}()
				s, err := generate.Prepare(ds, text, o)
				var r *api.Refusal
				switch {
				case err != nil && !errors.As(err, &r):
					t.Errorf("%q: not a refusal: %v", text, err)
				case err != nil && (r.Reason == "" || r.Position < -1 || r.Position > len(text) || !utf8.ValidString(r.Error())):
					t.Errorf("%q: %+v", text, r)
				case err == nil:
					taken++
					for _, p := range s.Plans {
						for _, measure := range p.Query.Measures {
							if measure.Kind != tree.Quantile {
								p.Query.Sensitivity(measure, dp.L1) // panics where it is not positive
							}
							measure.Describe()
						}
						if strings.Contains(p.Query.Hash(), generate.Mark) {
							t.Errorf("%q: a name in a hash", text)
						}
					}
				}
			}()
		}
		t.Logf("%s: %d of %d texts are taken", ds.Name, taken, n)
		if taken < n/30 || taken > n*3/4 {
			t.Errorf("%s: %d of %d texts are taken, which is not near the grammar", ds.Name, taken, n)
		}
	}
}

// TestSame: the same seed makes the same question and the same database.
func TestSame(t *testing.T) {
	ds := generate.Worlds()[0]
	m := generate.NewMaker(ds, plan.Options{})
	seen := map[string]bool{}
	for i := range uint64(50) {
		a, b := m.Question(generate.NewDice("same", i)), m.Question(generate.NewDice("same", i))
		if a != b {
			t.Errorf("%q and %q", a, b)
		}
		seen[a] = true
		x, y := generate.Make(generate.NewDice("same", i), ds), generate.Make(generate.NewDice("same", i), ds)
		if fmt.Sprint(x.Tables) != fmt.Sprint(y.Tables) {
			t.Errorf("two databases of the seed %d", i)
		}
	}
	if len(seen) < 45 {
		t.Errorf("only %d different questions", len(seen))
	}
}
