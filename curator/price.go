package curator

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// priced is a plan with the noise of every measure, and what that costs.
type priced struct {
	plan    *plan.Plan
	epsilon dp.Amount // what was asked for
	noise   []mech.Mechanism
	cost    dp.Cost // the sum of what the mechanisms themselves claim
}

// maxCells is how many noisy numbers an answer may have: however long each is,
// 20 digits and a comma, the ledger can keep them. It is checked before anything is paid.
const maxCells = ledger.MaxAnswer/21 - 1000

// price calibrates the noise of every measure so that all together cost what
// was asked for.
//
//   - A pure budget adds up epsilon. Each of n measures gets a Laplace release
//     at epsilon/n.
//   - An (epsilon, delta) budget adds up rho. A question at epsilon buys what an
//     arbitrary epsilon-differentially private mechanism would cost, rho =
//     epsilon tanh(epsilon/2), and each of n measures gets a Gaussian release
//     at rho/n: less noise for the same rho than Laplace.
//
// Shares are rounded down, noise is calibrated to the rounded share, and the charge is
// the sum of what the mechanisms claim, so it is exact and never above what was asked for.
func price(ds *policy.Dataset, p *plan.Plan, epsilon dp.Amount) (*priced, error) {
	if epsilon == 0 {
		epsilon = ds.Budget.DefaultEpsilon
	}
	if epsilon > ds.Budget.MaxEpsilon {
		return nil, &plan.Refusal{
			Reason:   fmt.Sprintf("epsilon %v is more than one question may cost here", epsilon),
			Instead:  fmt.Sprintf("ask with at most %v", ds.Budget.MaxEpsilon),
			Position: -1,
		}
	}
	if cells := p.Query.Groups() * len(p.Query.Measures); cells > maxCells {
		return nil, &plan.Refusal{
			Reason:   fmt.Sprintf("the answer would have %d noisy numbers, and %d can be kept", cells, maxCells),
			Instead:  "group by fewer columns, or ask for fewer aggregates at a time",
			Position: -1,
		}
	}
	out := &priced{plan: p, epsilon: epsilon}
	n := dp.Amount(len(p.Query.Measures))
	for _, m := range p.Query.Measures {
		var noise mech.Mechanism
		var err error
		if ds.Budget.Pure() {
			noise, err = mech.NewLaplace(p.Query.Sensitivity(m, dp.L1), epsilon/n)
		} else {
			noise, err = mech.NewGaussian(p.Query.Sensitivity(m, dp.L2), rhoFor(epsilon)/n)
		}
		if errors.Is(err, mech.ErrNoPrivacy) {
			return nil, &plan.Refusal{Reason: fmt.Sprintf("epsilon %v is too small to be shared among %d aggregates", epsilon, n),
				Instead: "ask with a larger epsilon, or for fewer aggregates", Position: -1}
		}
		if err != nil {
			return nil, &plan.Refusal{Reason: err.Error(), Position: -1}
		}
		out.noise = append(out.noise, noise)
		out.cost = out.cost.Add(noise.Cost())
	}
	return out, nil
}

// rhoFor returns what a question at epsilon buys from a zCDP budget. Any pure
// epsilon-differentially private mechanism is rho-zCDP at this rho, and at no smaller one
// (randomized response attains it). It is a tariff, not a claim: the noise is calibrated to
// the rho that is charged, so rounding cannot undercharge.
func rhoFor(epsilon dp.Amount) dp.Amount {
	e := epsilon.Float()
	rho, err := dp.FloorFloat(e * math.Tanh(e/2))
	if err != nil {
		return 0
	}
	return rho
}

// affordable returns the largest epsilon, rounded down, that a question can still be
// asked at when this much is left: the inverse of the tariff.
func affordable(left dp.Cost) dp.Amount {
	if left.Epsilon != dp.Unbounded {
		return left.Epsilon
	}
	low, high := dp.Amount(0), dp.One<<10
	for high-low > 1 {
		if middle := low + (high-low)/2; rhoFor(middle) <= left.Rho {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// tag is the price as an analyst reads it: epsilon is the price tag that was asked
// for, rho and delta are what the mechanisms claim.
func (p *priced) tag() dp.Cost {
	t := p.cost
	if t.Epsilon == dp.Unbounded {
		t.Epsilon = p.epsilon
	}
	return t
}

// hash names the private query together with its noise.
func (p *priced) hash() string {
	h := sha256.New()
	fmt.Fprintln(h, p.plan.Query.Hash())
	for _, m := range p.noise {
		fmt.Fprintln(h, m.Name(), m.Parameter().RatString())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// key names the answer: the same private query and noise on the same data.
func (p *priced) key(version string) string {
	return p.plan.Query.Dataset + " " + version + " " + p.hash()
}

// mechanisms names the noise for the ledger.
func (p *priced) mechanisms() string {
	var parts []string
	for _, m := range p.noise {
		parts = append(parts, m.Name()+"("+m.Parameter().RatString()+")")
	}
	return shorten(strings.Join(parts, " "), 4000)
}

func shorten(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}
