package verify_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/policy"
)

// TestMutants plants, one at a time, the mistakes that a builder of trees could make, in the trees of all corpora: every one that could cost privacy is
// seen. What is not seen is a claim that is narrower than it was and still true, because it was wider than it had to be; the reference of package plan is
// asked about each of them.
func TestMutants(t *testing.T) {
	random := 100
	if testing.Short() {
		random = 10
	}
	scores := scores{}
	each(t, random, func(ds *policy.Dataset, text string, q *tree.Query) {
		scores.count(t, text, mutants(q), func() error { return verify.Query(ds, q) })
	})
	ds := parsed(t, extremePolicy)
	r := extreme{rand.New(rand.NewPCG(3, 4))}
	for range 10 * random {
		text := r.question(4) // without subqueries: their fields may claim more than they can be, and the reference would try that
		if st, err := plan.Prepare(ds, text, plan.Options{}); err == nil {
			scores.count(t, text, mutants(&st.Plans[0].Query), func() error { return verify.Query(ds, &st.Plans[0].Query) })
		}
	}
	hospital := load(t, "hospital.yaml", "hospital")
	for _, c := range golden(t, "table/*.txt") {
		text, target, _ := strings.Cut(c, "\n=> ")
		if table, err := plan.PrepareTable(hospital, text, target, plan.Options{Public: columns{}}); err == nil {
			scores.count(t, c, tableMutants(table), func() error { return verify.Table(hospital, table) })
		}
	}
	var all score
	for _, class := range slices.Sorted(maps.Keys(scores)) {
		s := scores[class]
		t.Logf("%-40s %7d planted, %7d seen, %5d true all the same", class, s.made, s.seen, s.harmless)
		all.made, all.seen, all.harmless = all.made+s.made, all.seen+s.seen, all.harmless+s.harmless
	}
	t.Logf("%-40s %7d planted, %7d seen, %5d true all the same", "all", all.made, all.seen, all.harmless)
	if all.made < 10_000 {
		t.Error("too few for a test")
	}
}

// score is how many mistakes of a class were planted, and what came of them.
type score struct{ made, seen, harmless int }

type scores map[string]*score

// count plants mistakes, one at a time.
func (all scores) count(t *testing.T, text string, mutants []mutant, check func() error) {
	t.Helper()
	if err := check(); err != nil {
		return // which is for other tests
	}
	for _, m := range mutants {
		s := all[m.class]
		if s == nil {
			s = &score{}
			all[m.class] = s
		}
		s.made++
		undo := m.plant()
		err := check()
		harmless := err == nil && m.harmless != nil && m.harmless()
		undo()
		switch {
		case err != nil:
			s.seen++
		case harmless:
			s.harmless++
		default:
			t.Errorf("not seen: %s in %s", m.class, text)
		}
	}
	if err := check(); err != nil {
		t.Fatalf("a mistake was not taken away: %v", err)
	}
}
