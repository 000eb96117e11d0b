package holdout

import "math"

// transferred is what the transfer theorem says about so many rounds: the delta is looked for with
// what is quick, and epsilon taken of the best.
func transferred(r rounds, accuracy func(float64) float64, beta float64) Way {
	quick := BestTransfer(accuracy, r.at, beta)
	way := Way{Tolerance: quick.Tolerance, Epsilon: quick.Epsilon, Delta: quick.Delta, Composed: "pure"}
	if e, by := r.composed(quick.Delta); e <= quick.Epsilon {
		way.Tolerance, _ = Transfer(accuracy(quick.Miss), quick.Miss, e, quick.Delta, quick.C, quick.G)
		way.Epsilon, way.Composed = e, by
	}
	return way
}

// noisyTransfer adds Gaussian or Laplace noise to every answer, whichever does better.
func noisyTransfer(n float64, w Wish) Way {
	laplace := func(noise float64) rounds { return laplaceRounds(n, noise, w) }
	gaussian := func(sigma float64) rounds { return rounds{math.Inf(1), 1 / (2 * sigma * sigma * n * n), w.Queries} }
	best := Way{Tolerance: math.Inf(1)}
	for _, kind := range []struct {
		name     string
		rounds   func(float64) rounds
		accuracy func(noise, queries float64) func(float64) float64
	}{{"laplace", laplace, laplaceAccuracy}, {"gaussian", gaussian, gaussianAccuracy}} {
		noise := lowest(leastNoise, mostNoise, func(noise float64) float64 {
			return BestTransfer(kind.accuracy(noise, w.Queries), kind.rounds(noise).at, w.Beta).Tolerance
		})
		way := transferred(kind.rounds(noise), kind.accuracy(noise, w.Queries), w.Beta)
		way.Noise, way.Composed = noise, kind.name+", "+way.Composed
		if way.Tolerance < best.Tolerance {
			best = way
		}
	}
	return best
}

func thresholdTransfer(n float64, w Wish) Way {
	accuracy := func(noise float64) func(float64) float64 {
		return thresholdAccuracy(noise, thresholdOf(n, noise, w), w)
	}
	noise := w.Noise
	if noise == 0 {
		noise = lowest(leastNoise, mostNoise, func(noise float64) float64 {
			return BestTransfer(accuracy(noise), thresholdRounds(n, noise, w).at, w.Beta).Tolerance
		})
	}
	way := transferred(thresholdRounds(n, noise, w), accuracy(noise), w.Beta)
	way.Noise, way.Threshold = noise, thresholdOf(n, noise, w)
	return way
}

// theorem is the tolerance of so many questions that were chosen by an analysis of epsilon, all at
// once and with probability 1 - beta.
type theorem func(n, epsilon, questions, beta float64) float64

// pure is a way of pure rounds: some of beta is for the noise, and the rest for the theorem on as
// many questions as it has to be asked about.
func pure(n, noise float64, r rounds, questions float64, accuracy func(float64) float64, by theorem, w Wish) Way {
	way := Way{Tolerance: math.Inf(1), Noise: noise, Epsilon: r.at(0), Composed: "pure"}
	for _, share := range []float64{0.5, 0.8, 0.9, 0.95, 0.98} {
		way.Tolerance = math.Min(way.Tolerance, accuracy(share*w.Beta)+by(n, way.Epsilon, questions, (1-share)*w.Beta))
	}
	return way
}

// noisily answers every question with Laplace noise.
func noisily(by theorem) func(n, noise float64, w Wish) Way {
	return func(n, noise float64, w Wish) Way {
		way := pure(n, noise, laplaceRounds(n, noise, w), w.Queries, laplaceAccuracy(noise, w.Queries), by, w)
		way.Composed = "laplace, pure"
		return way
	}
}

// byThreshold answers with Thresholdout, and asks the theorem about one question of a round: all
// answers are within a + g of the means over the distribution, where a is [thresholdAccuracy] with
// one part of beta, and g what the theorem says about B questions with the other. How many are
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
func byThreshold(by theorem) func(n, noise float64, w Wish) Way {
	return func(n, noise float64, w Wish) Way {
		threshold := thresholdOf(n, noise, w)
		way := pure(n, noise, thresholdRounds(n, noise, w), w.Answers, thresholdAccuracy(noise, threshold, w), by, w)
		way.Threshold = threshold
		return way
	}
}
