package audit

import (
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/lab/survey"
)

// In the local model an input is one person's value, and any two values are neighbours.
func valuePairs(size int64) (pairs []Pair) {
	for v := range size {
		for w := range size {
			if v != w {
				pairs = append(pairs, Pair{[]int64{v}, []int64{w}})
			}
		}
	}
	return pairs
}

func randomizedResponse() Mechanism {
	m := must(survey.NewBinary(dp.One))
	p, q := m.Rates()
	return Mechanism{
		Name: "randomized-response", Claim: claimOf(m.Cost()), Pairs: valuePairs(2),
		Law: func(x []int64) enumerate.Law { return enumerate.Direct(p, q, 2, x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 {
				if m.Randomize(src, x[0] == 1) {
					return 1
				}
				return 0
			}
		},
	}
}

// clientMechanism is an oracle's, whose report is read as an outcome.
func clientMechanism(m survey.Oracle, law func(value int64) enumerate.Law, read func(survey.Report) int64) Mechanism {
	return Mechanism{
		Name: m.Name(), Claim: claimOf(m.Cost()), Pairs: valuePairs(int64(m.Size())),
		Law: func(x []int64) enumerate.Law { return law(x[0]) },
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 { return read(must(m.Randomize(src, int(x[0])))) }
		},
	}
}

func direct() Mechanism {
	m := must(survey.NewDirect(4, dp.One))
	p, q := m.Rates()
	return clientMechanism(m, func(v int64) enumerate.Law { return enumerate.Direct(p, q, 4, v) }, func(r survey.Report) int64 {
		return int64(r.Answer)
	})
}

func unary() Mechanism {
	m := must(survey.NewUnary(4, dp.One))
	p, q := m.Rates()
	return clientMechanism(m, func(v int64) enumerate.Law { return enumerate.Unary(p, q, 4, v) }, func(r survey.Report) int64 {
		return int64(r.Bits[0])
	})
}

// hashing reads which of two values a report supports, as a collector does.
func hashing() Mechanism {
	m := must(survey.NewHashing(2, dp.One))
	p, _ := m.Rates()
	return clientMechanism(m, func(v int64) enumerate.Law { return enumerate.Hashed(p, m.Buckets(), v) }, func(r survey.Report) int64 {
		c := survey.NewCollector(m)
		if err := c.Add(r); err != nil {
			return enumerate.Hidden // a report that no client makes is in no law's support
		}
		n := c.Counts()
		return n[0] + 2*n[1]
	})
}

func hadamard() Mechanism {
	m := must(survey.NewHadamard(4, dp.One))
	p, _ := m.Rates()
	return clientMechanism(m, func(v int64) enumerate.Law { return enumerate.Hadamard(p, 4, v) }, func(r survey.Report) int64 {
		return int64(2*r.Row + r.Answer)
	})
}

// heavyHitters is the client of the search in large domains, here in a small one, where all of
// its report can be looked at; a black box.
func heavyHitters() Mechanism {
	m := must(survey.NewHeavyHitters(4, dp.One))
	return Mechanism{
		Name: "heavy", Claim: claimOf(m.Cost()), Pairs: []Pair{{[]int64{1}, []int64{2}}},
		Open: func(src *noise.Source, x []int64) func() int64 {
			return func() int64 {
				r := must(m.Randomize(src, uint64(x[0])))
				return int64(r.Level<<40 + 2*r.Row + r.Answer)
			}
		},
	}
}
