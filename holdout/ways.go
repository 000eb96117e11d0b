package holdout

import "math"

// thresholdEpsilon is the pure epsilon of Thresholdout, 2B/(sn).
func thresholdEpsilon(n, noise float64, w Wish) float64 { return 2 * w.Answers / (noise * n) }

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
	laplace := func(noise float64) rounds {
		e := 1 / (noise * n)
		return rounds{e, e + math.Expm1(-e), w.Queries}
	}
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

// pure is a way with a pure epsilon: half of beta is for the noise, and half for the theorem.
func pure(
	n, noise, epsilon float64, accuracy func(float64) float64, tolerance func(n, epsilon, queries, beta float64) float64, w Wish,
) Way {
	return Way{Tolerance: accuracy(w.Beta/2) + tolerance(n, epsilon, w.Queries, w.Beta/2), Noise: noise, Epsilon: epsilon, Composed: "pure"}
}

func noisyInformation(n, noise float64, w Wish) Way {
	way := pure(n, noise, w.Queries/(noise*n), laplaceAccuracy(noise, w.Queries), InformationTolerance, w)
	way.Composed = "laplace, pure"
	return way
}

func noisyGeneralisation(n, noise float64, w Wish) Way {
	way := pure(n, noise, w.Queries/(noise*n), laplaceAccuracy(noise, w.Queries), GeneralisationTolerance, w)
	way.Composed = "laplace, pure"
	return way
}

func thresholdInformation(n, noise float64, w Wish) Way {
	threshold := thresholdOf(n, noise, w)
	way := pure(n, noise, thresholdEpsilon(n, noise, w), thresholdAccuracy(noise, threshold, w), InformationTolerance, w)
	way.Threshold = threshold
	return way
}

func thresholdGeneralisation(n, noise float64, w Wish) Way {
	threshold := thresholdOf(n, noise, w)
	way := pure(n, noise, thresholdEpsilon(n, noise, w), thresholdAccuracy(noise, threshold, w), GeneralisationTolerance, w)
	way.Threshold = threshold
	return way
}
