package lockstep

import (
	"context"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// Honest code raises no alarm, on thousands of replays, and people move most
// answers as far as they may: a search that moves nothing would find nothing.
func TestHonest(t *testing.T) {
	pairs := 6 // all kinds of people; with fewer, nobody moves some of the questions
	if daily.Full() {
		pairs = 7 // and of those who replace them
	}
	worlds := map[string]string{
		"hospital":             clinic(pure),
		"hospital, substitute": bySubstitution(clinic(concentrated)),
		"shop":                 shop("add-remove", concentrated),
		"shop, substitute":     shop("substitute", pure),
		"rows":                 rowsAndDates,
		"people alone":         strings.Replace(rowsAndDates, "      other:\n        columns: {}\n", "", 1),
		"shop alone":           strings.Replace(shop("substitute", pure), "source: shop", "source: shop.duckdb", 1),
	}
	for _, name := range daily.Sample(t, slices.Sorted(maps.Keys(worlds)), 2) {
		datasets := worlds[name]
		if testing.Short() && strings.HasPrefix(name, "hospital") {
			continue // which has most questions; the other datasets have all kinds of tables and both relations
		}
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			findings := must(Policy(ctx, writePolicy(t, datasets), Options{Seed: 1, Pairs: pairs, choose: func(all []string) []string {
				return daily.Sample(t, all, 12)
			}}))
			replays, moved, far := 0, 0, 0
			for _, f := range findings {
				replays += f.Samples
				if !f.Stands {
					t.Errorf("%s: %s", f.Subject, f.Detail)
				}
				if f.Lower > 0 {
					moved++
				}
				if f.Lower > 0.99 {
					far++
				}
				if f.Check != "replay" || f.Claim != 1 || f.Unit != "" || strings.Contains(f.Detail, "refused") {
					t.Errorf("%+v", f)
				}
				t.Logf("%.3f %s: %s", f.Lower, f.Subject, f.Detail)
			}
			// Of a few questions, fewer are moved on one day than on another.
			if replays < daily.Rounds(8, 45)*pairs || moved < len(findings)*daily.Rounds(2, 3)/4 ||
				far < len(findings)/daily.Rounds(12, 4) {
				t.Errorf("%d replays; of %d questions %d were moved, and %d as far as can be", replays, len(findings), moved, far)
			}
			t.Logf("%d questions, %d replays in %v, %d moved, %d as far as can be", len(findings), replays, time.Since(start), moved, far)
		})
	}
}

// everyFifth leaves out most questions, where it is not about them.
func everyFifth(all []string) (some []string) {
	for i := 0; i < len(all); i += 5 {
		some = append(some, all[i])
	}
	return some
}

// The same seed finds the same, and nothing is left behind or opened: there is no data, and no
// ledger comes to be.
func TestPolicyRepeats(t *testing.T) {
	path := writePolicy(t, shop("add-remove", pure))
	t.Setenv("TMPDIR", t.TempDir())
	var found [2][]enumerate.Finding
	for i := range found {
		var err error
		if found[i], err = Policy(ctx, path,
			Options{Seed: 4, Pairs: 2, choose: everyFifth, Questions: []string{"SELECT STRING_AGG(shop, ',') FROM orders",
				"SELECT shop, MAX(amount), MEDIAN(items) FROM orders GROUP BY shop"}}); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(found[0], found[1]) {
		t.Error("the same seed found something else")
	}
	refused := func(f enumerate.Finding) bool { return strings.Contains(f.Detail, "refused alike on 2 pairs") }
	if !slices.ContainsFunc(found[0], refused) {
		t.Error("the question of one's own was not asked")
	}
	for _, folder := range []string{filepath.Dir(path), os.Getenv("TMPDIR")} {
		left := must(os.ReadDir(folder))
		for _, f := range left {
			if f.Name() != "policy.yaml" && !strings.HasPrefix(f.Name(), "discreet-spill") {
				t.Errorf("%s was left in %s", f.Name(), folder)
			}
		}
	}
}

// Somebody who stops waiting gets an error and no findings.
func TestPolicyStops(t *testing.T) {
	stopped, stop := context.WithCancel(ctx)
	stop()
	if found, err := Policy(stopped, writePolicy(t, clinic(pure)), Options{}); err == nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := Policy(ctx, "no such policy.yaml", Options{}); err == nil {
		t.Error("no error without a policy")
	}
}

// Several datasets are told apart, and what is broken comes first.
func TestPrint(t *testing.T) {
	findings := must(Policy(ctx, writePolicy(t, shop("add-remove", pure)+rowsAndDates), Options{Pairs: 1, choose: everyFifth,
		System: planted[1].system}))
	var b strings.Builder
	if err := WriteFindings(&b, findings); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stands  1.000  shop: SELECT", "rows: SELECT", "questions, "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

func l1(d int64) dp.Sensitivity { return dp.NewL1(big.NewInt(d)) }

func l1Each(d, each int64) dp.Sensitivity { return dp.NewL1Each(big.NewInt(d), big.NewInt(each)) }

func l2(squared int64) dp.Sensitivity { return dp.NewL2Squared(big.NewInt(squared)) }

func call(s dp.Sensitivity, scoring mech.Scoring, v ...int64) mech.Call {
	return mech.Call{Mechanism: "m", Parameter: big.NewRat(10, 1), Sensitivity: s, Scoring: scoring, Values: mech.Seal(v...)}
}

// Calls are judged in their own norm, exactly at the bound and one step beyond it.
func TestJudgeCall(t *testing.T) {
	none, three := dp.Sensitivity{}, mech.Scoring{Sensitivity: 3}
	monotone := mech.Scoring{Sensitivity: 3, Monotone: true}
	other := call(l1(5), mech.Scoring{}, 0)
	other.Parameter = big.NewRat(11, 1)
	named := call(l1(5), mech.Scoring{}, 0)
	named.Mechanism = "n"
	zero := mech.Scoring{}
	for _, c := range []struct {
		name  string
		a, b  mech.Call
		ratio float64
		want  string
	}{
		{"l1 at the bound", call(l1(5), zero, 1, 2), call(l1(5), zero, 3, -1), 1, ""},
		{"l1 beyond", call(l1(5), zero, 1, 2), call(l1(5), zero, 4, -1), 1.2, "times as far"},
		{"l2 at the bound", call(l2(25), zero, 0, 0), call(l2(25), zero, 3, 4), 1, ""},
		{"l2 beyond", call(l2(24), zero, 0, 0), call(l2(24), zero, 3, 4), 1.02, "times as far"},
		{"scores each at the bound", call(none, three, 0, 0, 0), call(none, three, 3, -3, 3), 1, ""},
		{"a score beyond", call(none, three, 0, 0), call(none, three, 4, 0), 1.33, "times as far"},
		{"monotone", call(none, monotone, 0, 0), call(none, monotone, 3, 1), 1, ""},
		{"monotone, both ways", call(none, monotone, 0, 0), call(none, monotone, 1, -1), 1, "both ways"},
		{"nothing declared", call(none, zero, 0), call(none, zero, 0), 0, "no sensitivity"},
		{"each by two", call(l1Each(5, 2), zero, 0, 0), call(l1Each(5, 2), zero, 2, -2), 0.8, ""},
		{"one by three", call(l1Each(5, 2), zero, 0, 0), call(l1Each(5, 2), zero, 3, 0), 1, "one exact value by 3, and 2 is claimed"},
		{"another claim of each", call(l1Each(5, 2), zero, 0), call(l1(5), zero, 0), 0, "the sensitivity is"},
		{"another parameter", call(l1(5), zero, 0), other, 0, "the noise is"},
		{"another mechanism", call(l1(5), zero, 0), named, 0, "the noise is"},
		{"another sensitivity", call(l1(5), zero, 0), call(l1(6), zero, 0), 0, "the sensitivity is"},
		{"another norm", call(l1(5), zero, 0), call(l2(5), zero, 0), 0, "the sensitivity is"},
		{"another scoring", call(none, three, 0), call(none, monotone, 0), 0, "the sensitivity is"},
		{"another length", call(l1(5), zero, 0), call(l1(5), zero, 0, 0), 0, "one has 1 values, the other 2"},
	} {
		ratio, err := judgeCall(c.a, c.b)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || ratio < c.ratio-0.01 ||
			ratio > c.ratio+0.01 {
			t.Errorf("%s: %v, %v", c.name, ratio, err)
		}
	}
}

// A charge covers calls at exactly what they cost, and not at a unit less.
func TestCovered(t *testing.T) {
	half := dp.One / 2
	laplace, gaussian := call(l1(5), mech.Scoring{}, 0), call(l2(20), mech.Scoring{}, 0) // epsilon 1/2; rho 1
	for _, c := range []struct {
		name  string
		calls []mech.Call
		cost  dp.Cost
		ok    bool
	}{
		{"laplace", []mech.Call{laplace}, dp.Cost{Epsilon: half, Rho: dp.Unbounded}, true},
		{"laplace, less", []mech.Call{laplace}, dp.Cost{Epsilon: half - 1, Rho: dp.Unbounded}, false},
		{"laplace twice", []mech.Call{laplace, laplace}, dp.Cost{Epsilon: dp.One, Rho: dp.Unbounded}, true},
		{"laplace twice, less", []mech.Call{laplace, laplace}, dp.Cost{Epsilon: half, Rho: dp.Unbounded}, false},
		{"gaussian", []mech.Call{gaussian}, dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One}, true},
		{"gaussian, less", []mech.Call{gaussian}, dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One - 1}, false},
		{"gaussian is not pure", []mech.Call{gaussian}, dp.Cost{Epsilon: 50 * dp.One, Rho: dp.One}, false},
	} {
		if err := checkCovered(c.calls, c.calls, []ledger.Charge{{Cost: c.cost}}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if checkCovered([]mech.Call{laplace}, []mech.Call{laplace}, nil) == nil {
		t.Error("noise without a charge is not noticed")
	}
	// Of a residual that may move by more, two runs are 3 and 1 apart: rho 10/40.
	one, other := call(l2(20), mech.Scoring{}, 0, 5), call(l2(20), mech.Scoring{}, 3, 4)
	one.Mechanism, one.Parameter = "residual", big.NewRat(20, 1)
	for cost, ok := range map[dp.Amount]bool{dp.One / 4: true, dp.One/4 - 1: false} {
		err := checkCovered([]mech.Call{one}, []mech.Call{other}, []ledger.Charge{{Cost: dp.Cost{Epsilon: dp.Unbounded, Rho: cost}}})
		if (err == nil) != ok {
			t.Errorf("a residual that costs a quarter, for %v: %v", cost, err)
		}
	}
}
