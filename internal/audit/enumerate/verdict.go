package enumerate

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/audit/finding"
)

// Pure compares the loss of all pairs to a claim of (epsilon, delta)-differential
// privacy, delta 0 for a pure one.
func Pure(subject string, epsilon, delta float64, pairs []Pair) finding.Finding {
	f := finding.Finding{Subject: subject, Check: "exact", Claim: epsilon, Unit: "epsilon"}
	at := ""
	for _, n := range pairs {
		if e := math.Min(Epsilon(n.P, n.Q, delta), Most); e > f.Lower {
			f.Lower, at = e, n.Name
		}
	}
	f.Stands = f.Lower <= epsilon*(1+Rounding)
	f.Detail = findingDetail(len(pairs), at)
	if delta > 0 {
		f.Detail += fmt.Sprintf(", at delta %g", delta)
	}
	return f
}

// renyiOrders are those of the Renyi divergences that a claim of rho is compared at.
var renyiOrders = []float64{1.0625, 1.25, 1.5, 2, 3, 4, 8, 16, 32}

// Concentrated compares the Renyi divergences of all pairs to a claim of rho-zCDP:
// that of order alpha is at most alpha rho (Bun, Steinke 2016, Definition 1.1). The
// finding is in mu = sqrt(2 rho), the sensitivity in standard deviations, in which
// Gaussian noise is spoken of.
func Concentrated(subject string, rho float64, pairs []Pair) finding.Finding {
	f := finding.Finding{Subject: subject, Check: "exact", Claim: math.Sqrt(2 * rho), Unit: "mu"}
	at := ""
	for _, n := range pairs {
		for _, a := range renyiOrders {
			for _, d := range []float64{Renyi(n.P, n.Q, a), Renyi(n.Q, n.P, a)} {
				if mu := math.Min(math.Sqrt(math.Max(0, 2*d/a)), Most); mu > f.Lower {
					f.Lower, at = mu, n.Name
				}
			}
		}
	}
	f.Stands = f.Lower <= f.Claim*(1+Rounding)
	f.Detail = findingDetail(len(pairs), at) + fmt.Sprintf(", Renyi orders %g to %g", renyiOrders[0], renyiOrders[len(renyiOrders)-1])
	return f
}

func findingDetail(pairs int, at string) string {
	if pairs == 1 {
		return "neighbours " + at
	}
	return fmt.Sprintf("%d pairs of neighbours, worst %s", pairs, at)
}
