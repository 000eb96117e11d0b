package audit

import (
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/learn/calibrate"
)

// planned is pure objective perturbation by somebody's own arithmetic.
func planned(radius, lambda, jacobian float64) Mechanism {
	o := &calibrate.Objective{Lambda: lambda, Scale: problem(radius).Gradient() / (1 - jacobian)}
	return singleWeight{radius, o}.mechanism("objective", Claim{Epsilon: 1})
}

// noJacobian leaves out what the change of variables costs.
func noJacobian(bug bool) Mechanism {
	return planned(1, 1/math.Expm1(0.2), either(bug, 0, 0.2))
}

// radiusNotSquared has c R/Lambda in the place of c R^2/Lambda, as a well known library.
func radiusNotSquared(bug bool) Mechanism {
	lambda := 10 / math.Expm1(0.2)
	if !bug {
		lambda *= 10
	}
	return planned(10, lambda, 0.2)
}

// freeIntercept has next to no regulariser for the intercept, which is this weight, and noise as if
// it had one.
func freeIntercept(bug bool) Mechanism {
	return planned(1, either(bug, 0.1, 1)/math.Expm1(0.2), 0.2)
}

// gaussianOfOne is Gaussian noise for one row where people have two.
func gaussianOfOne(bug bool) Mechanism {
	p := problem(1)
	p.Rows = either(bug, 1, 2)
	o := must(p.Concentrated(dp.One/2, 100))
	m := singleWeight{1, o}.mechanism("objective-gaussian", Claim{Rho: 0.5})
	m.Pairs = []Pair{{nil, []int64{1, 1}}}
	return m
}

// rowsNotCounted trains on three rows of a person for the noise of one.
func rowsNotCounted(bug bool) Mechanism {
	m := training()
	if bug {
		m.Pairs = []Pair{{nil, []int64{1, 1, 1}}}
	}
	return m
}
