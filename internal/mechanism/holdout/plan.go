package holdout

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// errPlan is returned for what cannot be planned.
var errPlan = errors.New("not a plan")

// PlanRequest is what a plan is made for.
type PlanRequest struct {
	// Size is n, how many people there are.
	Size float64
	// Queries is k, how many questions will be asked, and Answers is B, how many of them
	// Thresholdout answers from the holdout.
	Queries, Answers float64
	// Tolerance is how far answers may be from the truth, and Beta with which probability any of
	// them may be farther.
	Tolerance, Beta float64
	// Noise and Threshold are Thresholdout's where they are not to be looked for; 0 where they are.
	Noise, Threshold float64
}

func (w PlanRequest) check() error {
	refuse := func(text string) error { return fmt.Errorf("%w: %s", errPlan, text) }
	switch {
	case !(w.Size >= 1 && w.Size <= maxPeople):
		return refuse("say how many people there are, from 1 to 1e15")
	case !(w.Queries >= 1 && w.Queries <= 1e12):
		return refuse("say how many questions will be asked, from 1 to 1e12")
	case !(w.Answers >= 1 && w.Answers <= w.Queries):
		return refuse("say how many questions the holdout itself may answer, from 1 to the number of questions")
	case !(w.Tolerance > 0 && w.Tolerance < 1):
		return refuse("the tolerance must be above 0 and below 1, such as 0.05")
	case !(w.Beta > 0 && w.Beta < 1):
		return refuse("the confidence must be above 0 and below 1, such as 0.95")
	case !(w.Noise >= 0 && w.Noise <= 1):
		return refuse("the noise must be above 0 and at most 1, such as 0.01")
	case !(w.Threshold >= 0 && w.Threshold <= 1):
		return refuse("the threshold must be from 0 to 1, such as 0.04")
	}
	return nil
}

// Verdict is what a way is worth for a wish.
type Verdict string

const (
	Holds           Verdict = "holds"   // within the tolerance that was wished for
	Misses          Verdict = "misses"  // promises something, and not that
	PromisesNothing Verdict = "vacuous" // promises a tolerance of 1 or more, or none at all
)

// PlannedWay is one way of answering, with what a theorem promises for it.
type PlannedWay struct {
	Name string
	// By is the theorem.
	By string
	// Adaptive says that questions may be chosen by earlier answers.
	Adaptive bool
	// Tolerance is what is promised at the wish's size, with the best noise.
	Tolerance float64
	Verdict   Verdict
	// Needs is how many people it takes to promise the tolerance that was wished for, +Inf where no
	// number up to 1e15 does.
	Needs float64
	// Noise is the scale of the noise that does best (the standard deviation where it is Gaussian),
	// in units of a score, and Threshold is Thresholdout's; 0 where there is none. Epsilon and
	// Delta are what all answers cost then, and Composed says by which composition.
	Noise, Threshold, Epsilon, Delta float64
	Composed                         string
}

const maxPeople = 1e15

// Plan compares ways of answering the same questions, and says what is promised for each, and how
// many people each needs. It looks for the best noise of each way by itself; what it promises holds
// whether or not it found the best.
//
// Thresholdout gets the smallest threshold at which, with probability 1 - beta, no question is
// answered from the holdout that does not overfit: one whose training value is over as many people
// who were drawn alike.
func Plan(w PlanRequest) ([]PlannedWay, error) {
	out, err := PlanTolerances(w)
	for i := range out {
		out[i].Needs = planMethods[i].peopleNeeded(w)
	}
	return out, err
}

// PlanTolerances is [Plan] without the numbers of people needed, which take longest.
func PlanTolerances(w PlanRequest) ([]PlannedWay, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	var out []PlannedWay
	for _, l := range planMethods {
		way := l.at(w.Size, w)
		way.Name, way.By, way.Adaptive = l.name, l.by, l.adaptive
		switch {
		case IsVacuous(way.Tolerance):
			way.Verdict = PromisesNothing
		case way.Tolerance > w.Tolerance:
			way.Verdict = Misses
		default:
			way.Verdict = Holds
		}
		out = append(out, way)
	}
	return out, nil
}

// PromisedTolerance is how far, at most and with probability 1 - beta, any answer of a session is
// from the mean over everybody whom its people were drawn from, however many questions are asked
// and whatever they are chosen by: the smallest tolerance that a theorem proves for the numbers
// that were declared. Where it is [IsVacuous] nothing is promised, and who asks often enough can
// fit the holdout. It holds as long as nothing but the session tells about its people, who were
// drawn independently. They need not be alike, as labels of known people are not: max-information
// and the transfer theorem look at one person at a time. The third, which wants them alike, is left
// out.
//
// The session compares on a lattice, which the theorems know nothing of: T and the training value
// are rounded by half a step each, and tails of whole numbers begin a step later for each of the
// three noises. Steps are 1/n at most.
func PromisedTolerance(size, threshold, noise, answers, beta float64) float64 {
	w := PlanRequest{
		Size: size, Queries: answers, Answers: answers, Tolerance: 0.5, Beta: beta,
		Noise: noise, Threshold: math.Max(threshold, math.SmallestNonzeroFloat64), // 0 is one that is looked for
	}
	if w.check() != nil || noise == 0 {
		return math.Inf(1)
	}
	least := math.Inf(1)
	for _, l := range planMethods {
		if l.name == ThresholdWay && l.by != "generalisation" {
			least = math.Min(least, l.at(size, w).Tolerance)
		}
	}
	return least + 4/size
}

// planMethod is a way of answering and a theorem, for any number of people.
type planMethod struct {
	name, by string
	adaptive bool
	at       func(n float64, w PlanRequest) PlannedWay
}

// The names of ways.
const (
	FixedWay     = "exact, questions fixed in advance"
	NaiveWay     = "exact, chosen by earlier answers"
	SplitWay     = "exact, fresh people for each"
	NoisyWay     = "all with noise"
	ThresholdWay = "Thresholdout"
)

var planMethods = []planMethod{
	{FixedWay, "Hoeffding", false, withoutNoise(Hoeffding)},
	{NaiveWay, "none", true, withoutNoise(Naive)},
	{SplitWay, "Hoeffding", true, withoutNoise(Splitting)},
	{NoisyWay, "transfer", true, noisyTransfer},
	{NoisyWay, "max-information", true, withBestNoise(withLaplace(InformationTolerance))},
	{NoisyWay, "generalisation", true, withBestNoise(withLaplace(GeneralisationTolerance))},
	{ThresholdWay, "transfer", true, thresholdTransfer},
	{ThresholdWay, "max-information", true, withDeclaredNoise(withThresholdout(InformationTolerance))},
	{ThresholdWay, "generalisation", true, withDeclaredNoise(withThresholdout(GeneralisationTolerance))},
}

// withoutNoise is a way without noise.
func withoutNoise(bound func(n, queries, beta float64) float64) func(float64, PlanRequest) PlannedWay {
	return func(n float64, w PlanRequest) PlannedWay { return PlannedWay{Tolerance: bound(n, w.Queries, w.Beta)} }
}

// peopleNeeded looks for the number of people at which the tolerance is what was wished for. All
// bounds get better with more people.
func (l planMethod) peopleNeeded(w PlanRequest) float64 {
	suffices := func(n float64) bool { return l.at(n, w).Tolerance <= w.Tolerance }
	if !suffices(maxPeople) {
		return math.Inf(1)
	}
	// Nobody is not enough.
	_, high := numeric.Bisect(0, math.Log(maxPeople), 19, func(x float64) bool { return !suffices(math.Exp(x)) })
	// Rounded up, to three digits: nobody plans more exactly.
	n := math.Exp(high)
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(n))-2))
	return math.Ceil(n/unit) * unit
}

// withBestNoise looks for the noise that does best.
func withBestNoise(at func(n, noise float64, w PlanRequest) PlannedWay) func(float64, PlanRequest) PlannedWay {
	return func(n float64, w PlanRequest) PlannedWay {
		return at(n, lowestArgument(minNoise, maxNoise, func(noise float64) float64 { return at(n, noise, w).Tolerance }), w)
	}
}

// withDeclaredNoise is [withBestNoise], but where the noise was given.
func withDeclaredNoise(at func(n, noise float64, w PlanRequest) PlannedWay) func(float64, PlanRequest) PlannedWay {
	return func(n float64, w PlanRequest) PlannedWay {
		if w.Noise > 0 {
			return at(n, w.Noise, w)
		}
		return withBestNoise(at)(n, w)
	}
}

// The noise is looked for between these, in units of a score.
const minNoise, maxNoise = 1e-12, 10

// transferWay is what the transfer theorem says about so many rounds: the delta is looked for with
// what is quick, and epsilon taken of the best.
func transferWay(r roundCosts, accuracy func(float64) float64, beta float64) PlannedWay {
	quick := BestTransfer(accuracy, r.at, beta)
	way := PlannedWay{Tolerance: quick.Tolerance, Epsilon: quick.Epsilon, Delta: quick.Delta, Composed: "pure"}
	if e, by := r.composed(quick.Delta); e <= quick.Epsilon {
		way.Tolerance, _ = Transfer(accuracy(quick.Miss), quick.Miss, e, quick.Delta, quick.C, quick.G)
		way.Epsilon, way.Composed = e, by
	}
	return way
}

// noisyTransfer adds Gaussian or Laplace noise to every answer, whichever does better.
func noisyTransfer(n float64, w PlanRequest) PlannedWay {
	laplace := func(noise float64) roundCosts { return laplaceRounds(n, noise, w) }
	gaussian := func(sigma float64) roundCosts {
		return roundCosts{math.Inf(1), 1 / (2 * sigma * sigma * n * n), w.Queries}
	}
	best := PlannedWay{Tolerance: math.Inf(1)}
	for _, kind := range []struct {
		name     string
		rounds   func(float64) roundCosts
		accuracy func(noise, queries float64) func(float64) float64
	}{{"laplace", laplace, laplaceAccuracy}, {"gaussian", gaussian, gaussianAccuracy}} {
		noise := lowestArgument(minNoise, maxNoise, func(noise float64) float64 {
			return BestTransfer(kind.accuracy(noise, w.Queries), kind.rounds(noise).at, w.Beta).Tolerance
		})
		way := transferWay(kind.rounds(noise), kind.accuracy(noise, w.Queries), w.Beta)
		way.Noise, way.Composed = noise, kind.name+", "+way.Composed
		if way.Tolerance < best.Tolerance {
			best = way
		}
	}
	return best
}

func thresholdTransfer(n float64, w PlanRequest) PlannedWay {
	accuracy := func(noise float64) func(float64) float64 {
		return thresholdAccuracy(noise, thresholdOf(n, noise, w), w)
	}
	noise := w.Noise
	if noise == 0 {
		noise = lowestArgument(minNoise, maxNoise, func(noise float64) float64 {
			return BestTransfer(accuracy(noise), thresholdRounds(n, noise, w).at, w.Beta).Tolerance
		})
	}
	way := transferWay(thresholdRounds(n, noise, w), accuracy(noise), w.Beta)
	way.Noise, way.Threshold = noise, thresholdOf(n, noise, w)
	return way
}

// theorem is the tolerance of so many questions that were chosen by an analysis of epsilon, all at
// once and with probability 1 - beta.
type theorem func(n, epsilon, questions, beta float64) float64

// pureWay is a way of pure rounds: some of beta is for the noise, and the rest for the theorem on
// as many questions as it has to be asked about.
func pureWay(n, noise float64, r roundCosts, questions float64, accuracy func(float64) float64, by theorem, w PlanRequest) PlannedWay {
	way := PlannedWay{Tolerance: math.Inf(1), Noise: noise, Epsilon: r.at(0), Composed: "pure"}
	for _, share := range []float64{0.5, 0.8, 0.9, 0.95, 0.98} {
		way.Tolerance = math.Min(way.Tolerance, accuracy(share*w.Beta)+by(n, way.Epsilon, questions, (1-share)*w.Beta))
	}
	return way
}

// withLaplace answers every question with Laplace noise.
func withLaplace(by theorem) func(n, noise float64, w PlanRequest) PlannedWay {
	return func(n, noise float64, w PlanRequest) PlannedWay {
		way := pureWay(n, noise, laplaceRounds(n, noise, w), w.Queries, laplaceAccuracy(noise, w.Queries), by, w)
		way.Composed = "laplace, pure"
		return way
	}
}

// withThresholdout answers with Thresholdout, and asks the theorem about one question of a round:
// all answers are within a + g of the means over the distribution, where a is [thresholdAccuracy]
// with one part of beta, and g what the theorem says about B questions with the other. How many are
// asked matters to the threshold and to nothing else.
//
// Proof. Call a question wild where its training value t is farther than a + g from the mean over
// the distribution. That is decided before it is answered. Mark in every round the first wild
// question, or where there is none the one that is answered from the holdout and ends it. The marks
// are B at most, and a function of the transcript, so an analysis of epsilon chose them: the mean h
// of each over the holdout is within g of that over the distribution, but with the second part of
// beta. Let besides all answers of the session be within a of the holdout, which fails with the
// first part.
//
// Then none is farther than a + g from the distribution. If a wild question were confirmed in a
// round, so were its first wild one, because what is not confirmed ends the round. That one is
// marked, so its t is farther than a from h, and it was not confirmed. So no wild question is
// confirmed, and the one that ends the round is marked, whether it is wild or not: its answer is
// within a of its h, and that within g of the distribution.
//
// A round that ends without an answer, because a period of the budget does, is one of the B here,
// and a session does not count it: where budgets renew, plan for as many more.
func withThresholdout(by theorem) func(n, noise float64, w PlanRequest) PlannedWay {
	return func(n, noise float64, w PlanRequest) PlannedWay {
		threshold := thresholdOf(n, noise, w)
		way := pureWay(n, noise, thresholdRounds(n, noise, w), w.Answers, thresholdAccuracy(noise, threshold, w), by, w)
		way.Threshold = threshold
		return way
	}
}

// roundCosts are equal mechanisms: what each costs in epsilon and in rho, and how many there are.
type roundCosts struct{ epsilon, rho, times float64 }

// at is the smallest epsilon at a delta that is quickly known: the sum, or that of the sum of rho
// (Bun, Steinke 2016).
func (r roundCosts) at(delta float64) float64 {
	sum := r.epsilon * r.times
	if delta <= 0 {
		return sum
	}
	rho := r.rho * r.times
	return math.Min(sum, rho+2*math.Sqrt(rho*math.Log(1/delta)))
}

// maxOptimalRounds is how many equal claims are composed optimally: it takes longer the more there
// are, and their sum of rho says nearly the same.
const maxOptimalRounds = 1e5

// composed is the smallest epsilon of all compositions that package account has, and which it was.
func (r roundCosts) composed(delta float64) (epsilon float64, by string) {
	epsilon, by = r.epsilon*r.times, "pure"
	if delta <= 0 {
		return epsilon, by
	}
	if e, err := (account.ZCDP{Rho: r.rho * r.times}).EpsilonAt(delta); err == nil && e < epsilon {
		epsilon, by = e, "zCDP"
	}
	if r.epsilon > 0 && !math.IsInf(r.epsilon, 1) && r.times <= maxOptimalRounds {
		terms := []account.Repeated{{Approx: account.Approx{Epsilon: r.epsilon}, Times: int(r.times)}}
		if e, err := account.OptimalEpsilon(terms, delta); err == nil && e.Upper < epsilon {
			epsilon, by = e.Upper, "optimal"
		}
	}
	return epsilon, by
}

// thresholdRounds are those of Thresholdout: a round is an AboveThreshold of 1/(sn) and an answer
// of 1/(sn).
func thresholdRounds(n, noise float64, w PlanRequest) roundCosts {
	e := 1 / (noise * n)
	return roundCosts{2 * e, dp.RhoOfPure(e) + e + math.Expm1(-e), w.Answers}
}

// laplaceRounds are those of noise on every answer.
func laplaceRounds(n, noise float64, w PlanRequest) roundCosts {
	e := 1 / (noise * n)
	return roundCosts{e, e + math.Expm1(-e), w.Queries}
}

// laplaceAccuracy is how near answers with Laplace noise are to the sample: P(|Lap(s)| > a) =
// exp(-a/s), for all k.
func laplaceAccuracy(noise, queries float64) func(miss float64) float64 {
	return func(miss float64) float64 { return noise * math.Log(math.Max(1, queries/miss)) }
}

// gaussianAccuracy is the same for Gaussian noise: P(|N| > x sigma) <= exp(-x^2/2).
func gaussianAccuracy(sigma, queries float64) func(miss float64) float64 {
	return func(miss float64) float64 { return sigma * math.Sqrt(2*math.Log(math.Max(1, queries/miss))) }
}

// thresholdOf is the threshold that [Plan] speaks of: the smallest that we can prove to let, with
// probability 1 - beta, no question be answered from the holdout that does not overfit, of all k.
//
// One that does not has |h - t| = |G|, where G is the difference of two means over n people each,
// all drawn alike. It is answered from the holdout where |G| + N - Z >= T. With Z of scale 2s and N
// of scale 4s, P(N - Z > w) = (2/3) x - (1/6) x^2 with x = exp(-w/(4s)) for w >= 0, and is at most
// (2/3) x for every w: below 0 it is 1 - (2/3) y + (1/6) y^2 with y = 1/x, and 2/3 minus y times
// that is 2/3 - y + (2/3) y^2 - (1/6) y^3, which falls to 1/6 at y = 1. A round that has lasted
// alarms no more often than that ([mech.AboveThreshold.AlarmProbability]). So both of these do, and
// the smaller is taken:
//
//   - half of beta for G, which is beyond sqrt(ln(4k/beta)/n) for none of k (Hoeffding), and half
//     for the noise: 4s ln(4k/(3 beta)) more;
//   - both at once. E exp(r G) <= exp(r^2/(4n)) (Hoeffding's lemma, for 2n people who count 1/n),
//     so with r = 1/(4s) the probability is at most (2/3) exp(-T/(4s)) 2 exp(1/(64 s^2 n)), which is
//     beta/k at T = 4s ln(4k/(3 beta)) + 1/(16 s n).
func thresholdOf(n, noise float64, w PlanRequest) float64 {
	if w.Threshold > 0 {
		return w.Threshold
	}
	samples := math.Min(math.Sqrt(math.Log(4*w.Queries/w.Beta)/n), 1/(16*noise*n))
	return samples + 4*noise*math.Log(4*w.Queries/(3*w.Beta))
}

// thresholdAccuracy is how near the answers of Thresholdout are to the sample, all of them at once:
// T + w, but with probability miss. The union is over the B rounds and not over questions.
//
// Proof. A training value that is farther than T + w from the mean over the holdout is confirmed in
// a round with probability P(Z - N > w) at most, however many questions the round has: the first
// that is so far off either ends it, or is confirmed by its own fresh noise
// ([mech.AboveThreshold.MissProbability]). The one answer that ends it is farther than T + w off
// with probability exp(-(T + w)/s). With x = exp(-w/(4s)) the first is at most (2/3) x, and the
// second exp(-T/s) x^4, which is at most exp(-T/s) x. There are B rounds, because B answers end
// them. So miss is B (2/3 + exp(-T/s)) x.
func thresholdAccuracy(noise, threshold float64, w PlanRequest) func(miss float64) float64 {
	each := w.Answers * (2.0/3 + math.Exp(-threshold/noise))
	return func(miss float64) float64 { return threshold + 4*noise*math.Log(math.Max(1, each/miss)) }
}
