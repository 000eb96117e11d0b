package holdout

import (
	"errors"
	"fmt"
	"math"
)

// ErrPlan is returned for what cannot be planned.
var ErrPlan = errors.New("not a plan")

// Wish is what a plan is made for.
type Wish struct {
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

func (w Wish) check() error {
	refuse := func(text string) error { return fmt.Errorf("%w: %s", ErrPlan, text) }
	switch {
	case !(w.Size >= 1 && w.Size <= mostPeople):
		return refuse("say how many people there are, from 1 to 1e15")
	case !(w.Queries >= 1 && w.Queries <= 1e12):
		return refuse("say how many questions will be asked, from 1 to 1e12")
	case !(w.Answers >= 1 && w.Answers <= w.Queries):
		return refuse("say how many questions the holdout itself may answer, from 1 to the number of questions")
	case !(w.Tolerance > 0 && w.Tolerance < 1):
		return refuse("the tolerance is above 0 and below 1, such as 0.05")
	case !(w.Beta > 0 && w.Beta < 1):
		return refuse("the confidence is above 0 and below 1, such as 0.95")
	case !(w.Noise >= 0 && w.Noise <= 1):
		return refuse("the noise is above 0 and at most 1, such as 0.01")
	case !(w.Threshold >= 0 && w.Threshold <= 1):
		return refuse("the threshold is from 0 to 1, such as 0.04")
	}
	return nil
}

// Verdict is what a way is worth for a wish.
type Verdict string

const (
	Holds   Verdict = "holds"   // within the tolerance that was wished for
	Misses  Verdict = "misses"  // promises something, and not that
	Nothing Verdict = "vacuous" // promises a tolerance of 1 or more, or none at all
)

// Way is one way of answering, with what a theorem promises for it.
type Way struct {
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

const mostPeople = 1e15

// Plan compares ways of answering the same questions, and says what is promised for each, and how
// many people each needs. It looks for the best noise of each way by itself; what it promises holds
// whether or not it found the best.
//
// Thresholdout gets the smallest threshold at which, with probability 1 - beta, no question is
// answered from the holdout that does not overfit: one whose training value is over as many people
// who were drawn alike.
func Plan(w Wish) ([]Way, error) {
	out, err := Promises(w)
	for i := range out {
		out[i].Needs = lanes[i].needs(w)
	}
	return out, err
}

// Promises is [Plan] without the numbers of people needed, which take longest.
func Promises(w Wish) ([]Way, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	var out []Way
	for _, l := range lanes {
		way := l.at(w.Size, w)
		way.Name, way.By, way.Adaptive = l.name, l.by, l.adaptive
		switch {
		case Vacuous(way.Tolerance):
			way.Verdict = Nothing
		case way.Tolerance > w.Tolerance:
			way.Verdict = Misses
		default:
			way.Verdict = Holds
		}
		out = append(out, way)
	}
	return out, nil
}

// Promised is how far, at most and with probability 1 - beta, any answer of a session is from the
// mean over everybody whom its people were drawn from, however many questions are asked and
// whatever they are chosen by: the smallest tolerance that a theorem proves for the numbers that
// were declared. Where it is [Vacuous] nothing is promised, and who asks often enough can fit the
// holdout. It holds as long as nothing but the session tells about its people, who were drawn
// independently. They need not be alike, as labels of known people are not: max-information and the
// transfer theorem look at one person at a time. The third, which wants them alike, is left out.
//
// The session compares on a lattice, which the theorems know nothing of: T and the training value
// are rounded by half a step each, and tails of whole numbers begin a step later for each of the
// three noises. Steps are 1/n at most.
func Promised(size, threshold, noise, answers, beta float64) float64 {
	w := Wish{
		Size: size, Queries: answers, Answers: answers, Tolerance: 0.5, Beta: beta,
		Noise: noise, Threshold: math.Max(threshold, math.SmallestNonzeroFloat64), // 0 is one that is looked for
	}
	if w.check() != nil || noise == 0 {
		return math.Inf(1)
	}
	least := math.Inf(1)
	for _, l := range lanes {
		if l.name == ThresholdWay && l.by != "generalisation" {
			least = math.Min(least, l.at(size, w).Tolerance)
		}
	}
	return least + 4/size
}
