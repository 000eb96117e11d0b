package audit

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/survey"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// plant returns a mechanism with its bug or without it. The code around it is the same, so
// that what is caught is the bug.
type plant struct {
	name    string
	by      string // the check that must catch it; empty for any
	samples int    // 25,000 if it is 0
	make    func(bug bool) Mechanism
}

// Every bug here was made in some library, paper or homework, or is one of ours that a test
// caught. An audit that does not catch them says nothing about the code that passes it.
var plants = []plant{
	{"scale 5 % short", "exact", 0, scaleShort},
	{"scale 5 % short, as a black box", "statistical", 1_000_000, blackBox(scaleShort)},
	{"scale 10 % short in the sampler only", "exact", 0, samplerShort},
	{"zero counted twice", "exact", 0, zeroTwice},
	{"sigma 5 % short", "exact", 0, sigmaShort},
	{"sigma 5 % short, as a black box", "statistical", 1_000_000, blackBox(sigmaShort)},
	{"sigma^2 from the sensitivity, not its square", "statistical", 0, blackBox(sensitivityNotSquared)},
	{"forgotten clamp", "statistical", 0, forgottenClamp},
	{"bounds that depend on the data", "statistical", 0, dataBounds},
	{"sensitivity without max_groups", "statistical", 0, withoutMaxGroups},
	{"noise reused for another count", "statistical", 0, reusedNoise},
	{"noise drawn per row", "statistical", 0, noisePerRow},
	{"floating-point logarithms: outcomes off the lattice", "exact", 0, floatSupport},
	{"floating-point logarithms: Mironov's attack", "statistical", 0, floatAttack},
	{"an answer that was not charged", "statistical", 0, missingCharge},
	{"a sharper answer that does not look at the first", "statistical", 0, sharpenedAlone},
	{"an average with the same noise twice, for the difference", "exact", 0, averagedTwice},
	{"an average with the same noise twice, as a black box", "statistical", 400_000, blackBox(averagedTwice)},
	{"a fixed seed", "statistical", 0, fixedSeed},

	{"residuals: the whole price for each grouping", "statistical", 250_000, wholePriceEach},
	{"laplace: the rho of counts for a number that moves by two", "exact", 0, countMovesByTwo},
	{"residuals: the noise of people who come or go, for people who are replaced", "statistical", 250_000, residualsOfReplaced},
	{"residuals: a forgotten clamp", "statistical", 250_000, residualsOfTwo},
	{"running totals: the noise of one day for people of two", "statistical", 250_000, runningOfOne},
	{"running totals: noise for the first number of a column", "statistical", 1_000_000, runningShort},

	{"radial: the largest move for the norm", "exact", 20_000, radialLargest},
	{"radial: rooted twice, as a black box", "statistical", 20_000, blackBox(radialRootedTwice)},
	{"radial: Laplace noise for each number", "exact", 20_000, radialEach},
	{"radial: Laplace noise for each number, as a black box", "statistical", 40_000, blackBox(radialEach)},
	{"radial: direction from a square", "exact", 40_000, radialSquare},
	{"radial: length of one dimension less", "exact", 20_000, radialShort},

	{"sparse vector: comparison noise in the answer (Roth 2011)", "exact", 0, sparseReused},
	{"sparse vector: noise not scaled by c (Lee, Clifton 2014)", "exact", 0, sparseUnscaled},
	{"sparse vector: noise not scaled by c, as a black box", "statistical", 400_000, blackBox(sparseUnscaled)},
	{"sparse vector: no noise on questions (Stoddard et al. 2014)", "exact", 0, sparseStill},
	{"sparse vector: no cut-off (Chen et al. 2015)", "exact", 0, sparseEndless},
	{"sparse vector: no cut-off, as a black box", "statistical", 400_000, blackBox(sparseEndless)},

	{"round: questions of D/e2 and not 2D/e2", "exact", 0, roundHalf},
	{"round: questions of D/e2 and not 2D/e2, as a black box", "statistical", 400_000, blackBox(roundHalf)},
	{"round: the noise of the threshold is at or below 0", "statistical", 0, roundUnder},
	{"round: goes on after a restart", "statistical", 400_000, roundAgain},
	{"round: draws a new threshold after a restart", "statistical", 400_000, roundRedrawn},
	{"round: comparison noise in the answer", "statistical", 0, roundReused},

	{"exponential: factor 2 forgotten", "exact", 0, exponentialFactor},
	{"noisy max: factor 2 forgotten", "statistical", 0, blackBox(noisyMaxFactor)},
	{"noisy max that releases the noisy maximum", "statistical", 400_000, noisyMaxValue},
	{"top-k that is not scaled by k", "statistical", 400_000, blackBox(topUnscaled)},

	{"key threshold off by one", "exact", 0, thresholdOffByOne},
	{"key threshold off by one in the test only", "exact", 400_000, testOffByOne},
	{"key threshold for one group of two", "exact", 0, thresholdOfOne},

	{"randomized response that never turns a 1", "statistical", 0, neverTurnsOne},
	{"direct: a lie may be the truth", "exact", 0, lieMayBeTruth},
	{"oue: epsilon for each bit", "statistical", 0, epsilonPerBit},
	{"olh: the hash depends on the value", "statistical", 0, hashOfValue},
	{"hadamard: a row in which the sign is plus", "statistical", 0, chosenRow},

	{"objective: no Jacobian", "exact", 0, noJacobian},
	{"objective: c R and not c R^2", "exact", 0, radiusNotSquared},
	{"objective: an intercept that is hardly regularised", "exact", 0, freeIntercept},
	{"objective: Gaussian noise for one row of two", "exact", 0, gaussianOfOne},
	{"objective: Gaussian noise for one row of two, as a black box", "statistical", 600_000, blackBox(gaussianOfOne)},
	{"training: three rows of a person for one", "statistical", 600_000, rowsNotCounted},
}

func TestPlantedBugsAreCaught(t *testing.T) {
	if len(plants) < 16 {
		t.Fatalf("only %d bugs", len(plants))
	}
	honest := map[string]bool{} // of which the code without the bug is looked at too
	for _, p := range daily.Sample(t, plants, len(plants)/6) {
		honest[p.name] = true
	}
	// Those that take many samples are tried in turn, a third of them a day.
	dear := func(p plant) bool { return p.samples > 0 }
	var today []plant
	for _, p := range plants {
		if dear(p) {
			today = append(today, p)
		}
	}
	today = daily.Sample(t, today, len(today)/3)
	for _, p := range plants {
		if !dear(p) {
			today = append(today, p)
		}
	}
	for _, p := range today {
		most := p.samples
		if most == 0 {
			most = 25_000
		}
		// Most bugs are caught early. What is caught is the bug: with as many samples the same code
		// without it stands.
		samples := most / 64
		prepared := p.make(true).prepare() // once: a law does not depend on how many samples there are
		for !catches(t, p, prepared, samples) {
			if samples == most {
				t.Errorf("%s: not caught", p.name)
				break
			}
			samples = min(4*samples, most)
		}
		if !honest[p.name] {
			continue
		}
		for _, f := range audited(t, p.make(false), samples) {
			if !f.Stands {
				t.Errorf("%s: without the bug: %+v", p.name, f)
			}
		}
	}
}

// catches audits a bug with so many samples.
func catches(t *testing.T, p plant, prepared preparedMechanism, samples int) (caught bool) {
	source := seededSources(1)
	found, err := prepared.sample(context.Background(), samples, func(part int) *noise.Source { return source(prepared.Name, part) },
		defaultBeta)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if !f.Stands {
			caught = caught || p.by == "" || f.Check == p.by
			t.Logf("%s: %s loses %.4g, claims %.4g with %d samples; %s", p.name, f.Check, f.Lower, f.Claim, samples, f.Detail)
		}
	}
	return caught
}

// blackBox hides the law, so that only running the mechanism can tell.
func blackBox(f func(bool) Mechanism) func(bool) Mechanism {
	return func(bug bool) Mechanism {
		m := f(bug)
		m.Law = nil
		return m
	}
}

// either returns a where there is a bug and b where there is none.
func either[T any](bug bool, a, b T) T {
	if bug {
		return a
	}
	return b
}

// changed is a mechanism of the catalogue whose code is another where there is a bug.
func changed(bug bool, m Mechanism, once func(src *noise.Source, value int64) int64) Mechanism {
	if bug {
		m.Open = func(src *noise.Source, x []int64) func() int64 {
			return func() int64 { return once(src, x[0]) }
		}
	}
	return m
}

var turnedResponse = must(survey.NewBinary(dp.One))

func bit(b bool) int64 { return either[int64](b, 1, 0) }

func neverTurnsOne(bug bool) Mechanism {
	return changed(bug, randomizedResponse(), func(src *noise.Source, v int64) int64 {
		return bit(v == 1 || turnedResponse.Randomize(src, false))
	})
}

// The lie is drawn from all four values.
func lieMayBeTruth(bug bool) Mechanism {
	honest := direct()
	return changed(bug, honest, func(src *noise.Source, v int64) int64 {
		if honest.Open(src, []int64{v})() != v {
			return int64(noise.Uniform(src, 4))
		}
		return v
	})
}

// Two bits differ, and each is private with epsilon.
func epsilonPerBit(bug bool) Mechanism {
	return changed(bug, unary(), func(src *noise.Source, v int64) (out int64) {
		for i := range int64(4) {
			out |= bit(turnedResponse.Randomize(src, i == v)) << i
		}
		return out
	})
}

// The hash function is such that the two values never share a bucket, and the own one is the first.
func hashOfValue(bug bool) Mechanism {
	return changed(bug, hashing(), func(src *noise.Source, v int64) int64 {
		if noise.BernoulliExp(src, big.NewRat(1, 10)) {
			return 1 << v
		}
		return 2 >> v
	})
}

func chosenRow(bug bool) Mechanism {
	return changed(bug, hadamard(), func(src *noise.Source, v int64) int64 {
		row := int64(noise.Uniform(src, 4))
		if row&v != 0 && row&v != 3 {
			row = 0
		}
		return 2*row + bit(turnedResponse.Randomize(src, false))
	})
}

// planned is pure objective perturbation by somebody's own arithmetic.
func planned(radius, lambda, jacobian float64) Mechanism {
	o := &learn.ObjectiveNoise{Lambda: lambda, Scale: problem(radius).Gradient() / (1 - jacobian)}
	return singleWeight{radius, o}.mechanism("objective", Claim{Epsilon: 1})
}

// noJacobian leaves out what the change of variables costs.
func noJacobian(bug bool) Mechanism { return planned(1, 1/math.Expm1(0.2), either(bug, 0, 0.2)) }

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
func freeIntercept(bug bool) Mechanism { return planned(1, either(bug, 0.1, 1)/math.Expm1(0.2), 0.2) }

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
