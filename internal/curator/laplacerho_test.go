package curator_test

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// Counts by group with Laplace noise take the rho of what one person adds to each group, as many
// times as there are groups of one person, from a budget that adds up both: less than of one count
// that moves by all of it. The epsilon is the same.
func TestRhoOfGroups(t *testing.T) {
	w := curatortest.New(t, "{epsilon: 1, delta: 1e-6, noise: laplace}")
	q := api.Question{Analyst: "ana", SQL: "SELECT ward, COUNT(*) FROM visits GROUP BY ward"}
	e, err := w.Explain(ctx, q)
	w.Check(err)
	of := e.Questions[0]
	rows := big.NewInt(of.MaxRows)
	all := new(big.Int).Mul(rows, big.NewInt(of.MaxGroups))
	each, err := mech.NewLaplace(dp.NewL1Each(all, rows), e.Cost.Epsilon)
	w.Check(err)
	together, err := mech.NewLaplace(dp.NewL1(all), e.Cost.Epsilon)
	w.Check(err)
	if of.MaxGroups < 2 || of.Measures[0].Mechanism != "laplace" {
		t.Fatalf("%d groups, with %s noise", of.MaxGroups, of.Measures[0].Mechanism)
	}
	t.Logf("%d groups of %d rows at epsilon %v: rho %v, before %v", of.MaxGroups, of.MaxRows, e.Cost.Epsilon, e.Cost.Rho,
		together.Cost().Rho)
	if e.Cost.Rho != each.Cost().Rho || e.Cost.Rho >= together.Cost().Rho {
		t.Errorf("it costs %v; want %v, and less than %v", e.Cost, each.Cost(), together.Cost())
	}
	if a := w.MustAsk(q.SQL); a.Cost != e.Cost {
		t.Errorf("%v was charged, and %v explained", a.Cost, e.Cost)
	}
	// Paid in rho it has less noise than what moved by all of it would have.
	w = curatortest.New(t, curatortest.Concentrated)
	q.Settings.Mechanism = "laplace"
	e, err = w.Explain(ctx, q)
	w.Check(err)
	sharp, rho := e.Questions[0].Measures[0].Deviation, e.Cost.Rho // of Laplace noise it is the scale
	blunt := 0.0
	for epsilon := dp.One >> 10; blunt == 0 || epsilon < 2*dp.One; epsilon += dp.One >> 10 {
		m, err := mech.NewLaplace(dp.NewL1(all), epsilon)
		if w.Check(err); m.Cost().Rho > rho {
			break
		}
		blunt, _ = m.Parameter().Float64()
	}
	if t.Logf("in rho: scale %.2f, before %.2f", sharp, blunt); sharp > 0.75*blunt || sharp < 0.65*blunt {
		t.Errorf("the scale is %v, and was %v", sharp, blunt)
	}
}
