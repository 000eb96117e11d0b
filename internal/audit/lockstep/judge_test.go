package lockstep

import (
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
)

func l1(d int64) dp.Sensitivity { return dp.NewL1(big.NewInt(d)) }

func l2(squared int64) dp.Sensitivity { return dp.NewL2Squared(big.NewInt(squared)) }

func call(s dp.Sensitivity, scoring mech.Scoring, v ...int64) mech.Call {
	return mech.Call{Mechanism: "m", Parameter: big.NewRat(10, 1), Sensitivity: s, Scoring: scoring, Values: mech.Exactly(v...)}
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
		{"another parameter", call(l1(5), zero, 0), other, 0, "the noise is"},
		{"another mechanism", call(l1(5), zero, 0), named, 0, "the noise is"},
		{"another sensitivity", call(l1(5), zero, 0), call(l1(6), zero, 0), 0, "the sensitivity is"},
		{"another norm", call(l1(5), zero, 0), call(l2(5), zero, 0), 0, "the sensitivity is"},
		{"another scoring", call(none, three, 0), call(none, monotone, 0), 0, "the sensitivity is"},
		{"another length", call(l1(5), zero, 0), call(l1(5), zero, 0, 0), 0, "1 values against 2"},
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
		if err := checkCovered(c.calls, []ledger.Charge{{Cost: c.cost}}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if checkCovered([]mech.Call{laplace}, nil) == nil {
		t.Error("noise without a charge is not noticed")
	}
}
