package mech

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/stat"
)

func above(d int64, e1, e2 dp.Amount, one bool) *AboveThreshold {
	a, err := NewAboveThreshold(AboveThresholdConfig{Sensitivity: l1(d), Threshold: e1, Question: e2, OneSided: one})
	if err != nil {
		panic(err)
	}
	return a
}

var sides = map[bool]string{false: "two-sided", true: "one-sided"}

// The loss of every short round is within the claim, on the worst of all movements. A one-sided
// round reaches it with two questions.
func TestAboveIsPrivateExactly(t *testing.T) {
	for _, c := range []struct {
		n      int
		d      int64
		e1, e2 string
	}{
		{4, 1, "0.5", "0.5"}, {4, 1, "1", "2"}, {3, 2, "0.3", "0.9"}, {3, 3, "1", "0.25"}, {2, 5, "2", "1"},
	} {
		for _, one := range []bool{false, true} {
			a := above(c.d, amount(c.e1), amount(c.e2), one)
			e := a.Cost().Epsilon.Float()
			worst, err := checkAbove(aboveModelOf(a), c.n, c.d, e)
			if err != nil {
				t.Errorf("%+v, %s: %v", c, sides[one], err)
			}
			if one && worst < e*(1-1e-9) {
				t.Errorf("%+v, %s: the claim is loose: %v of %v", c, sides[one], worst, e)
			}
			t.Logf("%+v, %s: %.6f of %v", c, sides[one], worst, e)
		}
	}
}

// Two-sided it takes many answers "below" to drive the threshold's noise where the proof moves it.
func TestAboveIsTight(t *testing.T) {
	for _, one := range []bool{false, true} {
		m := aboveModelOf(above(1, dp.One/2, dp.One/2, one))
		for _, n := range []int{1, 10, 1000, 100000} {
			for _, far := range []int64{0, -10, -100} {
				got := m.loss([]ask{{0, n, false}, {far, 1, true}}, []ask{{1, n, false}, {far - 1, 1, true}})
				if err := checkLoss(got, 1); err != nil {
					t.Errorf("%s, %d below: %v", sides[one], n, err)
				}
				if n == 100000 && far == -100 && got < 0.98 {
					t.Errorf("%s: the loss is %v", sides[one], got)
				}
			}
		}
	}
}

// Between "above" and never: a round that goes on costs e1, and no more for any number of "below".
func TestAboveOpenRoundsCostTheThreshold(t *testing.T) {
	for _, one := range []bool{false, true} {
		m := aboveModelOf(above(2, dp.One/4, dp.One*3/4, one))
		for _, n := range []int{1, 100, 100000} {
			for _, move := range []int64{-2, -1, 1, 2} {
				if err := checkLoss(m.loss([]ask{{0, n, false}}, []ask{{move, n, false}}), 0.25); err != nil {
					t.Errorf("%s, %d below that move by %d: %v", sides[one], n, move, err)
				}
			}
		}
	}
}

func TestAboveCost(t *testing.T) {
	for _, one := range []bool{false, true} {
		a := above(3, dp.One/4, dp.One/2, one)
		e := 0.75
		c := a.Cost()
		if c.Epsilon != dp.One/4+dp.One/2 || c.Delta != 0 || math.Abs(c.Rho.Float()-e*math.Tanh(e/2)) > 1e-9 ||
			c.Rho.Float() < e*math.Tanh(e/2) {
			t.Errorf("cost %v", c)
		}
		z, q := a.Parameters()
		if z.Cmp(big.NewRat(12, 1)) != 0 || q.Cmp(big.NewRat(12, 1)) != 0 { // 3/(1/4), and 2 * 3/(1/2)
			t.Errorf("scales %v and %v", z, q)
		}
		e1, e2 := a.config.Threshold, a.config.Question
		if e1+e2 != c.Epsilon || a.OneSided() != one || a.config.Sensitivity.L1().Int64() != 3 {
			t.Errorf("%v and %v, %v, %v", e1, e2, a.OneSided(), a.config.Sensitivity)
		}
	}
}

// round is a round under test: an honest one, or one that was broken on purpose.
type round func(value, threshold int64) (bool, error)

func honestRound(a *AboveThreshold) func(*Releaser) round {
	return func(r *Releaser) round {
		s := r.OpenAbove(a)
		return func(v, t int64) (bool, error) { return s.Ask(Seal(v), t) }
	}
}

// checkAboveFollows draws from the same bytes by the same samplers, in the same order, and expects
// value + N >= threshold + Z and nothing else.
func checkAboveFollows(open func(*Releaser) round, a *AboveThreshold) error {
	for seed := range byte(40) {
		src, s := entropy.FromReader(newStream(seed)), newStream(seed)
		f := open(NewReleaser(entropy.FromReader(s)))
		z, said := a.threshold.Draw(src), false
		for i := int64(0); !said; i++ {
			value, threshold := 3*(i%7), 40-i
			got, err := f(value, threshold)
			if err != nil {
				return fmt.Errorf("question %d: %w", i, err)
			}
			if said = value+a.question.Draw(src) >= threshold+z; got != said {
				return fmt.Errorf("question %d: above is %v, want %v", i, got, said)
			}
		}
		read := s.read
		if got, err := f(1_000_000, 0); !errors.Is(err, errOver) || got || s.read != read {
			return fmt.Errorf("after its \"above\" a round says %v, %v, and draws %d bytes", got, err, s.read-read)
		}
	}
	return nil
}

func TestAboveFollowsTheNoise(t *testing.T) {
	for _, one := range []bool{false, true} {
		a := above(2, dp.One/2, dp.One/2, one)
		if err := checkAboveFollows(honestRound(a), a); err != nil {
			t.Errorf("%s: %v", sides[one], err)
		}
	}
}

// checkAboveReplay is [checkSparseReplay] for a round, whose answers have no values.
func checkAboveReplay(open func(*Releaser) round, x, y []int64) error {
	return checkSparseReplay(func(r *Releaser) asker {
		f := open(r)
		return func(value, threshold int64) (a SparseAnswer, err error) {
			a.Above, err = f(value, threshold)
			return a, err
		}
	}, x, y)
}

var aboveNeighbours = [][2][]int64{
	{{0, 0, 0, 0, 0, 0}, {2, -2, 2, -2, 2, -2}},
	{{-500, -500, 500, 500}, {-498, -502, 498, 502}},
	{{math.MinInt64, math.MinInt64}, {math.MinInt64 + 2, math.MinInt64}},
	{{math.MaxInt64}, {math.MaxInt64 - 1}},
}

func TestAboveReplay(t *testing.T) {
	for _, one := range []bool{false, true} {
		a := above(2, dp.One/2, dp.One/2, one)
		far := func(r *Releaser) round {
			s := r.OpenAbove(a)
			return func(v, t int64) (bool, error) { return s.AskDistance(Seal(v), 7, t) }
		}
		for _, c := range aboveNeighbours {
			if err := checkAboveReplay(honestRound(a), c[0], c[1]); err != nil {
				t.Errorf("%s: %v", sides[one], err)
			}
			if err := checkAboveReplay(far, c[0], c[1]); err != nil {
				t.Errorf("%s, distances: %v", sides[one], err)
			}
		}
	}
}

// checkAboveResumes compares rounds that go on with rounds that are laid aside after every question
// and taken up again.
func checkAboveResumes(a *AboveThreshold, resume func(*Releaser, []byte) (*AboveRound, error)) error {
	for seed := range byte(60) {
		r, other := seeded(seed), seeded(seed)
		on, off := r.OpenAbove(a), other.OpenAbove(a)
		for i := int64(0); !on.Over(); i++ {
			value, threshold := Seal(3*(i%7)), 30-i
			next, err := resume(other, off.Secret())
			if err != nil {
				return err
			}
			off = next
			want, err := on.Ask(value, threshold)
			got, err2 := off.Ask(value, threshold)
			if got != want || err != nil || err2 != nil {
				return fmt.Errorf("question %d: %v, %v after a restart, and %v, %v without", i, got, err2, want, err)
			}
		}
		if !off.Over() || on.Secret() != nil {
			return fmt.Errorf("over: %v, and %d bytes are to be laid aside", off.Over(), len(on.Secret()))
		}
	}
	return nil
}

func TestAboveResumes(t *testing.T) {
	for _, one := range []bool{false, true} {
		a := above(2, dp.One/2, dp.One/2, one)
		if err := checkAboveResumes(a, func(r *Releaser, s []byte) (*AboveRound, error) { return r.ResumeAbove(a, s) }); err != nil {
			t.Errorf("%s: %v", sides[one], err)
		}
		// What is laid aside holds the noise and no more, and does not change with the questions.
		s := seeded(5).OpenAbove(a)
		before := s.Secret()
		if _, err := s.Ask(Seal(-1000), 0); err != nil || !bytes.Equal(before, s.Secret()) {
			t.Errorf("%x became %x, %v", before, s.Secret(), err)
		}
		for _, bad := range [][]byte{nil, {}, {0x80}, append(before[:len(before):len(before)], 0), bytes.Repeat([]byte{0xff}, 11)} {
			if _, err := seeded(1).ResumeAbove(a, bad); !errors.Is(err, errAbove) {
				t.Errorf("%x: %v", bad, err)
			}
		}
		// -1 is no noise of a one-sided round.
		if _, err := seeded(1).ResumeAbove(a, bytes.Repeat([]byte{0xff}, 8)); errors.Is(err, errAbove) != one {
			t.Errorf("%s, -1: %v", sides[one], err)
		}
	}
}

// transcript runs a round on values with thresholds of 0, and numbers what it said: 1 and a digit
// for every answer.
func transcript(f round, values []int64) (n int64) {
	n = 1
	for _, v := range values {
		yes, err := f(v, 0)
		if err != nil {
			break
		}
		n <<= 1
		if yes {
			n++
		}
	}
	return n
}

// checkAboveStatistics bounds the loss of rounds on neighbours from below, as the audit does.
func checkAboveStatistics(open func(*Releaser) round, x, y []int64, runs int, epsilon float64) error {
	var drawn [2]stat.Samples
	for i, values := range [][]int64{x, y} {
		var err error
		drawn[i], err = stat.Draw(context.Background(), runs, func(part int) *noise.Source {
			return entropy.FromReader(newStream(byte(2*part + i + 100)))
		},
			func(src *noise.Source) func() int64 {
				r := NewReleaser(src)
				return func() int64 { return transcript(open(r), values) }
			})
		if err != nil {
			return err
		}
	}
	if b := stat.Epsilon(drawn[0], drawn[1], false, 0, lossError); b.Lower > epsilon {
		return fmt.Errorf("epsilon is at least %v, above %v: %s", b.Lower, epsilon, b.Detail)
	}
	return nil
}

func TestAboveStatistics(t *testing.T) {
	for _, one := range []bool{false, true} {
		a := above(1, dp.One/2, dp.One/2, one)
		for _, c := range [][2][]int64{{{0, 0, 0}, {1, 1, -1}}, {{-2, 0}, {-1, -1}}, {{0, 0, 0, 0}, {-1, -1, -1, 1}}} {
			if err := checkAboveStatistics(honestRound(a), c[0], c[1], 60000, 1); err != nil {
				t.Errorf("%s, %v: %v", sides[one], c, err)
			}
		}
	}
}

// The code and the model agree on the probability of every transcript.
func TestAboveFollowsItsModel(t *testing.T) {
	const runs = 60000
	values := []int64{0, -2, 1}
	for _, one := range []bool{false, true} {
		a := above(1, dp.One, dp.One*2, one)
		hits, r := map[int64]int{}, seeded(31)
		for range runs {
			hits[transcript(honestRound(a)(r), values)]++
		}
		m := aboveModelOf(a)
		prior, _ := m.thresholds(100)
		sum := 0.0
		for name, said := range map[int64][]bool{0b11: {true}, 0b101: {false, true}, 0b1001: {false, false, true},
			0b1000: {false, false, false}} {
			p := 0.0
			for i, w := range prior {
				for j, yes := range said {
					w *= m.answer(values[j], int64(i)-100, yes)
				}
				p += w
			}
			sum += p
			if low, high := stat.LowerBound(hits[name], runs, 1e-7), stat.UpperBound(hits[name], runs, 1e-7); p < low || p > high {
				t.Errorf("%s, %b: %v is not within %v and %v", sides[one], name, p, low, high)
			}
		}
		if len(hits) > 4 || math.Abs(sum-1) > 1e-9 {
			t.Errorf("%s: %d transcripts with probability %v: %v", sides[one], len(hits), sum, hits)
		}
	}
}

// One-sided, no value that is at the threshold plus the threshold's noise, or above, is ever
// missed.
func TestAboveOneSidedMissesNothing(t *testing.T) {
	a := above(5, dp.One/10, dp.One/10, true)
	r := seeded(9)
	for range 2000 {
		s := r.OpenAbove(a)
		z := s.threshold.Open()[0]
		if z < 0 {
			t.Fatalf("the noise of the threshold is %d", z)
		}
		if yes, err := s.Ask(Seal(100+z), 100); !yes || err != nil {
			t.Fatalf("missed: %v", err)
		}
	}
}

// Distances never move further than values, at the ends of int64 neither.
func TestAboveDistanceMovesNoFurther(t *testing.T) {
	ends := []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 + 2, -1 << 62, -3, -1, 0, 1, 2, 1 << 62,
		math.MaxInt64 - 1, math.MaxInt64}
	between := func(a, b int64) *big.Int {
		d := new(big.Int).Sub(big.NewInt(a), big.NewInt(b))
		return d.Abs(d)
	}
	for _, p := range ends {
		for _, v := range ends {
			got := distance(v, p)
			if want := between(v, p); got < 0 || want.IsInt64() && p != math.MinInt64 && got != want.Int64() ||
				!want.IsInt64() && got != math.MaxInt64 {
				t.Errorf("|%d - %d| is %d", v, p, got)
			}
			for _, w := range ends {
				if between(got, distance(w, p)).Cmp(between(v, w)) > 0 {
					t.Errorf("%d and %d move apart by a prediction of %d", v, w, p)
				}
			}
		}
	}
	for _, c := range []struct {
		value, prediction, threshold int64
		want                         bool
	}{
		{1_000_000, 0, 1000, true}, {-1_000_000, 0, 1000, true}, {1_000_000, 1_000_000, 1000, false},
		{math.MinInt64, math.MaxInt64, 1000, true}, {math.MaxInt64, math.MinInt64, math.MaxInt64, true},
		{math.MinInt64, math.MinInt64, 1000, false},
		{0, 0, math.MaxInt64, false}, {0, 0, math.MinInt64, true},
	} {
		for _, one := range []bool{false, true} {
			yes, err := seeded(1).OpenAbove(above(1, dp.One, dp.One, one)).AskDistance(Seal(c.value), c.prediction, c.threshold)
			if c.threshold == math.MaxInt64 && c.want {
				continue // at the end it is a matter of noise
			}
			if yes != c.want || err != nil {
				t.Errorf("%+v: %v, %v", c, yes, err)
			}
		}
	}
}

func TestAboveRefuses(t *testing.T) {
	good := AboveThresholdConfig{Sensitivity: l1(1), Threshold: dp.One, Question: dp.One}
	for _, c := range []struct {
		change func(*AboveThresholdConfig)
		want   error
	}{
		{func(s *AboveThresholdConfig) { s.Threshold = 0 }, ErrNoPrivacy},
		{func(s *AboveThresholdConfig) { s.Question = 0 }, ErrNoPrivacy},
		{func(s *AboveThresholdConfig) { s.Threshold = dp.Unbounded }, ErrNoPrivacy},
		{func(s *AboveThresholdConfig) { s.Question = dp.Unbounded }, ErrNoPrivacy},
		{func(s *AboveThresholdConfig) { s.Threshold, s.Question = dp.Unbounded-1, dp.Unbounded-1 }, ErrScale},
		{func(s *AboveThresholdConfig) { s.Threshold = 1; s.Sensitivity = l1(1 << 20) }, ErrScale},
		{func(s *AboveThresholdConfig) { s.Sensitivity = dp.Sensitivity{} }, errNorm},
		{func(s *AboveThresholdConfig) { s.Sensitivity = l2squared(1) }, errNorm},
		{func(s *AboveThresholdConfig) { s.Sensitivity = l1(1 << 50) }, ErrScale},
	} {
		for _, one := range []bool{false, true} {
			bad := good
			bad.OneSided = one
			c.change(&bad)
			if m, err := NewAboveThreshold(bad); !errors.Is(err, c.want) || m != nil {
				t.Errorf("%+v: %v", bad, err)
			}
		}
	}
	// No value or two are refused, and draw nothing.
	s := newStream(1)
	open := NewReleaser(entropy.FromReader(s)).OpenAbove(above(1, dp.One, dp.One, true))
	read := s.read
	for _, v := range []Exact{Seal(), Seal(1, 2), {}} {
		if _, err := open.Ask(v, 0); !errors.Is(err, errAbove) || s.read != read {
			t.Errorf("%v, and %d bytes", err, s.read-read)
		}
		if _, err := open.AskDistance(v, 0, 0); !errors.Is(err, errAbove) || s.read != read {
			t.Errorf("%v, and %d bytes", err, s.read-read)
		}
	}
}

func TestAboveIsSafeForConcurrentUse(t *testing.T) {
	s := NewReleaser(noise.NewSource()).OpenAbove(above(1, dp.One, dp.One, true))
	var mu sync.Mutex
	said := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				yes, err := s.Ask(Seal(0), 2)
				if yes && err == nil {
					mu.Lock()
					said++
					mu.Unlock()
				}
				s.Secret()
			}
		})
	}
	wg.Wait()
	if said != 1 || !s.Over() {
		t.Errorf("%d answers \"above\"", said)
	}
}

// Who prints a round does not see the threshold's noise.
func TestAboveRoundsAreNotPrinted(t *testing.T) {
	s := seeded(1).OpenAbove(above(1<<20, dp.One, dp.One, false))
	z := abs(s.threshold.Open()[0])
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x"} {
		for _, v := range []any{s, struct{ s *AboveRound }{s}} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, fmt.Sprint(z)) || strings.Contains(text, fmt.Sprintf("%x", z)) {
				t.Errorf("%s shows %s", verb, text)
			}
		}
	}
}

// BenchmarkAbove asks a million questions that are answered "below".
func BenchmarkAbove(b *testing.B) {
	a := above(1, dp.One, dp.One, true)
	r := NewReleaser(noise.NewSource())
	const k = 1_000_000
	for b.Loop() {
		s := r.OpenAbove(a)
		for i := range int64(k) {
			if yes, _ := s.AskDistance(Seal(i%100), 0, 1_000_000); yes {
				b.Fatal("above")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/k, "ns/question")
}
