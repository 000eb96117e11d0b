package verify_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/plan/verify"
	"github.com/discreet-dp/discreet/policy"
)

var full = flag.Bool("full", false, "plant every mistake in every tree, and run every one that is not refused; some in DuckDB too")

// known are mistakes that are not refused yet, and why. Each line is a hole.
var known = map[string]string{}

// TestMutants plants, one at a time, the mistakes that a builder of trees could make, in the trees
// of all corpora: every one that could cost privacy is refused. What is not refused is
//
//   - a claim that is narrower than it was and still true, because it was wider than it had to be;
//     the reference of package plan is asked about each of them;
//   - a cut above others, without which how many rows a person has is bounded too;
//   - another question, which is run on neighbours, in the reference and in DuckDB: its exact
//     integers move no further than it claims, are the same whatever the order of rows, and it
//     fails on neither or on all.
//
// Of those that are refused some are run too: how many are shown to be dangerous says how much the
// judge sees.
func TestMutants(t *testing.T) {
	random, all := 12, &survey{judge: newJudge(t), every: 4, runs: 12, tries: 3, scores: map[string]*score{}}
	if testing.Short() {
		random, all.every = 4, 12
	}
	if *full {
		random, all.every, all.runs, all.tries = 25, 1, math.MaxInt, 50
	}
	each(t, random, func(ds *policy.Dataset, public tree.Public, text string, q *tree.Query) {
		all.count(t, specimen{ds, subject{q: q}, text, mutants(q), func() error { return checked(ds, public, q) }})
	})
	if *full {
		eachSharp(random/8, func(ds *policy.Dataset, public tree.Public, text string, q *tree.Query) {
			all.count(t, specimen{ds, subject{q: q}, text, mutants(q), func() error { return checked(ds, public, q) }})
		})
	}
	ds := parsed(t, extremePolicy)
	r := extreme{rand.New(rand.NewPCG(3, 4))}
	for range 10 * random {
		text := r.question(4) // without subqueries: their fields may claim more than they can be, and the reference would try that
		if st, err := plan.Prepare(ds, text, plan.Options{}); err == nil {
			q := &st.Plans[0].Query
			all.count(t, specimen{ds, subject{q: q}, text, mutants(q), func() error { return checked(ds, nil, q) }})
		}
	}
	hospital := tight(load(t, "hospital.yaml", "hospital"))
	for _, c := range golden(t, "table/*.txt") {
		text, target, _ := strings.Cut(c, "\n=> ")
		if table, err := plan.PrepareTable(hospital, text, target, plan.Options{Public: columns{}}); err == nil {
			check := func() error {
				return errors.Join(verify.Table(hospital, table), verify.TableWork(hospital, columns{}, table))
			}
			all.count(t, specimen{hospital, subject{t: table}, c, tableMutants(table), check})
		}
	}
	all.tell(t)
}

// eachSharp calls f for questions of extremes about policies with hard columns.
func eachSharp(random int, f func(ds *policy.Dataset, public tree.Public, text string, q *tree.Query)) {
	for _, ds := range generate.Extremes() {
		public := reference.New(ds, generate.Make(generate.NewDice("language", 1), ds).Tables).Public()
		maker := generate.NewMaker(ds, plan.Options{Public: public}).Sharp()
		d := generate.NewDice("sharp mutants", 7)
		for range random {
			text := maker.Question(d)
			st, err := generate.Prepare(ds, text, plan.Options{Public: public})
			if err != nil {
				continue
			}
			for _, p := range st.Plans {
				f(ds, public, text, &p.Query)
			}
		}
	}
}

// specimen is a tree in which mistakes are planted.
type specimen struct {
	ds      *policy.Dataset
	subject subject
	text    string
	mutants []mutant
	check   func() error
}

// score is what came of the mistakes of one kind.
type score struct {
	made, refused int
	same          int // a claim is true all the same, or rows are cut below
	ran           int // and moved no further than was claimed, and in DuckDB
	inDuckDB      int
	left          int // not run: another one of its kind was, or its joins are too large
	known         int
	dangerous     int
	tried, shown  int // of those that were refused
}

// survey counts mistakes by their kind.
type survey struct {
	judge  *judge
	every  int // of which one is planted
	next   int
	runs   int // of each kind that is not refused
	tries  int // of each kind that is refused
	scores map[string]*score
}

func (all *survey) of(class string) *score {
	if all.scores[class] == nil {
		all.scores[class] = &score{}
	}
	return all.scores[class]
}

// count plants mistakes, one at a time.
func (all *survey) count(t *testing.T, s specimen) {
	t.Helper()
	if err := s.check(); err != nil {
		return // which is for other tests
	}
	// What the judge cannot run it cannot say anything about, and keys that are public are not run.
	listed := s.subject.q != nil && len(s.subject.q.Measures) == 0 && len(s.subject.q.PrivateKeys()) == 0
	runs := !listed && all.judge.sentence(s.ds, s.subject) == verdict{tried: true}
	for _, m := range s.mutants {
		score := all.of(m.class)
		if all.next++; score.made >= 3 && all.next%all.every != 0 {
			continue
		}
		score.made++
		undo := m.plant()
		wrong, spelled := all.one(score, s, m, runs), ""
		if wrong != "" {
			spelled = s.subject.format()
		}
		undo()
		if wrong != "" && score.dangerous < 4 {
			t.Errorf("not refused: %s, in %s\n%s\n%s", m.class, s.text, wrong, spelled)
		}
	}
	if err := s.check(); err != nil {
		t.Fatalf("a mistake was not taken away: %v", err)
	}
}

// one looks at a mistake that is planted, and says what is wrong where it is dangerous and was not
// refused.
func (all *survey) one(score *score, s specimen, m mutant, runs bool) string {
	if err := s.check(); err != nil {
		if score.refused++; runs && score.refused%5 == 1 && score.tried < all.tries {
			if v := all.judge.sentence(s.ds, s.subject); v.tried {
				score.tried++
				if v.wrong != "" {
					score.shown++
				}
			}
		}
		return ""
	}
	wrong := "the claim is not so, or the person is not the same"
	switch {
	case m.harmless != nil && m.harmless():
		score.same++
		return ""
	case m.work:
		wrong = "one person can add more to the work of it than is public"
	case m.changes:
		if !runs || score.ran >= all.runs {
			score.left++
			return ""
		}
		v := all.judge.sentence(s.ds, s.subject)
		if v.wrong == "" && *full && score.inDuckDB < 8 && v.tried {
			v.wrong = all.judge.inDuckDB(s.ds, s.subject)
			score.inDuckDB++
		}
		switch {
		case !v.tried:
			score.left++
			return ""
		case v.wrong == "":
			score.ran++
			return ""
		}
		wrong = v.wrong
	}
	if known[m.class] != "" {
		score.known++
		return ""
	}
	score.dangerous++
	return wrong
}

// String is a line of the table.
func (s *score) String() string {
	return fmt.Sprintf("%7d made, %7d refused, %5d true all the same, %5d run and right (%d in DuckDB), %6d not run, %d known, "+
		"%d dangerous; of those refused %d of %d are shown to be", s.made, s.refused, s.same, s.ran, s.inDuckDB, s.left, s.known,
		s.dangerous, s.shown, s.tried)
}

// tell prints the table.
func (all *survey) tell(t *testing.T) {
	sum := &score{}
	for _, class := range slices.Sorted(maps.Keys(all.scores)) {
		s := all.scores[class]
		t.Logf("%-44s %v", class, s)
		sum.made, sum.refused, sum.same, sum.ran = sum.made+s.made, sum.refused+s.refused, sum.same+s.same, sum.ran+s.ran
		sum.inDuckDB, sum.left, sum.known = sum.inDuckDB+s.inDuckDB, sum.left+s.left, sum.known+s.known
		sum.dangerous, sum.shown, sum.tried = sum.dangerous+s.dangerous, sum.shown+s.shown, sum.tried+s.tried
	}
	t.Logf("%-44s %v", "all", sum)
	if sum.made < 10_000 && !testing.Short() || sum.ran < 200 {
		t.Error("too few for a test")
	}
	if sum.shown < sum.tried/50 {
		t.Errorf("of %d that are refused %d are shown to be dangerous: the judge sees too little", sum.tried, sum.shown)
	}
}
