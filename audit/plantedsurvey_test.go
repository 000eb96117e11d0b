package audit

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/survey"
)

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

// The hash function is such that the two values never share a bucket, and the own one is
// the first.
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
