package mech

import (
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

// The loss of every short session is within the claim, on the worst of all movements.
func TestSparseIsPrivateExactly(t *testing.T) {
	for _, c := range []struct {
		above, n int
		d        int64
		epsilon  string
		monotone bool
	}{
		{1, 4, 1, "1", false}, {2, 4, 1, "1", false}, {3, 4, 1, "2", false},
		{1, 4, 3, "0.8", false}, {1, 5, 1, "3", true}, {2, 4, 2, "1", true}, {4, 4, 1, "1", true},
	} {
		m := sparse(c.above, c.d, amount(c.epsilon), func(s *SparseConfig) { s.Monotone = c.monotone })
		e := m.Cost().Epsilon.Float()
		worst, err := checkSparse(modelOf(m), c.above, c.n, c.d, c.monotone, e)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		t.Logf("%+v: %.4f of %v", c, worst, e)
	}
}

// The claim is not loose either: many questions that are answered "below" drive the threshold's
// noise where the proof moves it, and the loss comes near to epsilon.
func TestSparseIsTight(t *testing.T) {
	for _, c := range []int{1, 2, 5} {
		m := sparse(c, 1, dp.One, nil)
		x := []ask{{0, 100000, false}, {-400, c, true}}
		y := []ask{{1, 100000, false}, {-401, c, true}}
		got := modelOf(m).loss(x, y)
		if got > 1+1e-9 || got < 0.98 {
			t.Errorf("c = %d: the loss is %v", c, got)
		}
	}
}

// Rounds of a refreshed session are AboveThresholds that share epsilon.
func TestSparseRefreshedIsPrivateExactly(t *testing.T) {
	m := sparse(4, 1, amount("2"), func(s *SparseConfig) { s.Refresh = true })
	if _, err := checkSparse(modelOf(m), 1, 4, 1, false, 0.5); err != nil {
		t.Error(err)
	}
	if got := m.Cost(); got.Epsilon != amount("2") || math.Abs(got.Rho.Float()-4*0.5*math.Tanh(0.25)) > 1e-9 {
		t.Errorf("cost %v", got)
	}
}

// ">" on the integers is ">=" with another threshold: the enumeration has the same worst case.
func TestSparseStrictIsTheSame(t *testing.T) {
	m := modelOf(sparse(2, 1, dp.One, nil))
	for d := int64(-3); d <= 3; d++ {
		for z := int64(-5); z <= 5; z++ {
			if strict := lapFrom(m.q, z-d+1); strict != m.answer(d-1, z, true) {
				t.Errorf("d = %d, z = %d: %v", d, z, strict)
			}
		}
	}
}

// Numeric sessions: the value has noise of its own, and the loss of every
// transcript and value is within e1 + e2 + e3.
func TestSparseValuesArePrivateExactly(t *testing.T) {
	m := sparse(1, 1, dp.One, func(s *SparseConfig) { s.Values = dp.One / 2 })
	_, _, v := m.Parameters()
	if v.Cmp(big.NewRat(2, 1)) != 0 {
		t.Fatalf("scale %v", v)
	}
	worst := 0.0
	for _, below := range []int{0, 1, 10, 1000, 100000} {
		for value := int64(-20); value <= 20; value++ {
			for _, base := range []int64{-20, -5, 0, 5} {
				x := []ask{{0, below, false}, {base, 1, true}}
				y := []ask{{1, below, false}, {base - 1, 1, true}}
				l := modelOf(m).loss(x, y) + math.Log(lapAt(2, value-base)/lapAt(2, value-base+1))
				worst = math.Max(worst, l)
			}
		}
	}
	if worst > 1.5+1e-9 || worst < 1.4 {
		t.Errorf("the loss is %v", worst)
	}
}

func TestSparseSplit(t *testing.T) {
	for _, e := range []dp.Amount{2, 3, 1000, dp.One / 10, dp.One, dp.One*3 + 1} {
		for _, c := range []int{1, 2, 7, 1000} {
			for _, monotone := range []bool{false, true} {
				config := SparseConfig{Above: c, Epsilon: e, Monotone: monotone}
				e1, e2, err := splitSparse(config)
				if err != nil || e1 == 0 || e2 == 0 || e1+e2 != e {
					t.Errorf("%v into %d: %v + %v, %v", e, c, e1, e2, err)
				}
				n := 2 * float64(c)
				if monotone {
					n /= 2
				}
				if got, want := float64(e2)/float64(e1), math.Pow(n, 2.0/3); e > 1e9 && math.Abs(got/want-1) > 1e-6 {
					t.Errorf("%v into %d: ratio %v, want %v", e, c, got, want)
				}
			}
		}
	}
	m := sparse(3, 2, dp.One, func(s *SparseConfig) { s.Values = dp.One / 4 })
	e1, e2, e3 := m.Split()
	if e1+e2+e3 != m.Cost().Epsilon || e1+e2 != dp.One {
		t.Errorf("%v + %v + %v is not %v", e1, e2, e3, m.Cost().Epsilon)
	}
	z, q, v := m.Parameters()
	for _, c := range []struct {
		scale *big.Rat
		times int64
		e     dp.Amount
	}{{z, 2, e1}, {q, 12, e2}, {v, 6, e3}} {
		// scale times epsilon is exactly the movement: nothing was rounded.
		if got := new(big.Rat).Mul(c.scale, c.e.Rat()); got.Cmp(big.NewRat(c.times, 1)) != 0 {
			t.Errorf("scale %v at %v covers %v, not %d", c.scale, c.e, got, c.times)
		}
	}
}

// Rho is one of the proven claims, and values make it cheaper than what the pure claim says.
func TestSparseRho(t *testing.T) {
	pure := func(e float64) float64 { return e * math.Tanh(e/2) }
	for _, c := range []struct {
		change func(*SparseConfig)
		want   float64
	}{
		{nil, pure(1)},
		{func(s *SparseConfig) { s.Refresh = true }, 10 * pure(0.1)},
		{func(s *SparseConfig) { s.Values = dp.One }, pure(1) + 10*pure(0.1)},
		{func(s *SparseConfig) { s.Values, s.Refresh = dp.One, true }, 20 * pure(0.1)},
	} {
		if got := sparse(10, 1, dp.One, c.change).Cost().Rho.Float(); math.Abs(got-c.want) > 1e-9 || got < c.want {
			t.Errorf("rho %v, want %v", got, c.want)
		}
	}
}

// checkSparseFollows draws from the same bytes by the same samplers, in the same
// order, and expects value + N >= threshold + Z and nothing else.
func checkSparseFollows(open func(*Releaser) asker, m *Sparse) error {
	src, f := entropy.FromReader(newStream(3)), open(seeded(3))
	z, drawn, above := int64(0), false, 0
	for i := int64(0); above < m.config.Above; i++ {
		value, threshold := 100*(i%7), 10*i%1000
		a, err := f(value, threshold)
		if err != nil {
			return fmt.Errorf("question %d: %w", i, err)
		}
		if !drawn {
			z, drawn = m.threshold.Draw(src), true
		}
		n, v := m.query.Draw(src), m.value.Draw(src)
		want := SparseAnswer{}
		if value+n >= threshold+z {
			want = SparseAnswer{true, value + v}
			above++
			drawn = !m.config.Refresh
		}
		if a != want {
			return fmt.Errorf("question %d: %v, want %v", i, a, want)
		}
	}
	if _, err := f(0, 0); !errors.Is(err, ErrHalted) {
		return fmt.Errorf("after %d answers: %v", above, err)
	}
	return nil
}

func TestSparseAnswersFollowTheNoise(t *testing.T) {
	for _, refresh := range []bool{false, true} {
		m := sparse(50, 3, dp.One, func(s *SparseConfig) { s.Values, s.Refresh = dp.One, refresh })
		if err := checkSparseFollows(openSparseHonestly(m), m); err != nil {
			t.Error(err)
		}
	}
}

// asker answers a question: an honest session, or one that was broken on purpose.
type asker func(value, threshold int64) (SparseAnswer, error)

func openSparseHonestly(m *Sparse) func(*Releaser) asker {
	return func(r *Releaser) asker {
		s := r.OpenSparse(m)
		return func(v, t int64) (SparseAnswer, error) { return s.Ask(Seal(v), t) }
	}
}

// checkSparseReplay asks the same questions about neighbours with the same
// random bytes, and compares calls and bytes for as long as the answers agree.
func checkSparseReplay(open func(*Releaser) asker, x, y []int64) error {
	for seed := range byte(30) {
		if err := replaySparse(open, x, y, seed); err != nil {
			return err
		}
	}
	return nil
}

func replaySparse(open func(*Releaser) asker, x, y []int64, seed byte) error {
	rx, ry := seeded(seed), seeded(seed)
	var cx, cy []Call
	rx.Record(func(c Call) { cx = append(cx, c) })
	ry.Record(func(c Call) { cy = append(cy, c) })
	fx, fy := open(rx), open(ry)
	for i := range x {
		a, err := fx(x[i], 0)
		b, err2 := fy(y[i], 0)
		// The next bits are the same only where as many were drawn.
		if rx.src.Uint64() != ry.src.Uint64() {
			return fmt.Errorf("question %d: more was drawn on one side", i)
		}
		if len(cx) != len(cy) || len(cx) == 0 {
			return fmt.Errorf("question %d: %d calls against %d", i, len(cx), len(cy))
		}
		last, other := cx[len(cx)-1], cy[len(cy)-1]
		if last.Mechanism != other.Mechanism || last.Parameter.Cmp(other.Parameter) != 0 ||
			last.Sensitivity.String() != other.Sensitivity.String() {
			return fmt.Errorf("question %d: %v against %v", i, last, other)
		}
		if err := checkDistance(last.Values, other.Values, last.Sensitivity); err != nil {
			return err
		}
		if a.Above != b.Above || err != nil || err2 != nil {
			return nil
		}
		if a.Above && a.Value-b.Value != x[i]-y[i] && (a.Value != 0 || b.Value != 0) {
			return fmt.Errorf("question %d: values differ by %d", i, a.Value-b.Value)
		}
	}
	return nil
}

// checkSparseStatistics runs sessions on neighbours, with all thresholds 0, and bounds the loss of
// every transcript from below. Values join the transcript cut to a few classes.
func checkSparseStatistics(open func(*Releaser) asker, x, y []int64, runs int, epsilon float64) error {
	count := func(r *Releaser, v []int64) map[string]int {
		hits := map[string]int{}
		for range runs {
			f := open(r)
			text := make([]byte, 0, len(v)*2)
			for _, q := range v {
				a, err := f(q, 0)
				if err != nil {
					text = append(text, '!')
					break
				}
				switch {
				case !a.Above:
					text = append(text, '-')
				default:
					text = append(text, '+', byte('m'+max(-3, min(3, a.Value))))
				}
			}
			hits[string(text)]++
		}
		return hits
	}
	return checkCounts(count(seeded(21), x), count(seeded(22), y), runs, epsilon)
}

func TestSparseReplay(t *testing.T) {
	for _, refresh := range []bool{false, true} {
		m := sparse(3, 2, dp.One, func(s *SparseConfig) { s.Values, s.Refresh = dp.One, refresh })
		for _, c := range [][2][]int64{
			{{0, 0, 0, 0, 0, 0}, {2, -2, 2, -2, 2, -2}},
			{{-500, -500, 500, 500}, {-498, -502, 498, 502}},
			{{math.MinInt64, math.MinInt64}, {math.MinInt64 + 2, math.MinInt64}},
		} {
			if err := checkSparseReplay(openSparseHonestly(m), c[0], c[1]); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestSparseStatistics(t *testing.T) {
	for _, refresh := range []bool{false, true} {
		m := sparse(2, 1, dp.One, func(s *SparseConfig) { s.Refresh = refresh })
		if err := checkSparseStatistics(openSparseHonestly(m), []int64{0, 0, 0, 0}, []int64{1, 1, -1, -1}, 60000, 1); err != nil {
			t.Error(err)
		}
	}
	m := sparse(1, 1, dp.One, func(s *SparseConfig) { s.Values = dp.One })
	if err := checkSparseStatistics(openSparseHonestly(m), []int64{0, 0, 0}, []int64{1, 1, -1}, 60000, 2); err != nil {
		t.Error(err)
	}
}

// The code and the model agree on the probability of every transcript.
func TestSparseFollowsItsModel(t *testing.T) {
	const runs = 60000
	m := sparse(2, 1, amount("2"), nil)
	values := []int64{0, -2, 1}
	hits := map[string]int{}
	r := seeded(31)
	for range runs {
		s, text := r.OpenSparse(m), ""
		for _, v := range values {
			a, err := s.Ask(Seal(v), 0)
			if errors.Is(err, ErrHalted) {
				break
			}
			text += map[bool]string{true: "+", false: "-"}[a.Above]
		}
		hits[text]++
	}
	sum := 0.0
	for text, n := range hits {
		var asks []ask
		for i, a := range text {
			asks = append(asks, ask{values[i], 1, a == '+'})
		}
		p, _ := modelOf(m).transcript(asks)
		sum += p
		if low, high := stat.LowerBound(n, runs, 1e-7), stat.UpperBound(n, runs, 1e-7); p < low || p > high {
			t.Errorf("%s: %v is not within %v and %v", text, p, low, high)
		}
	}
	if len(hits) != 7 || math.Abs(sum-1) > 1e-9 {
		t.Errorf("%d transcripts with probability %v: %v", len(hits), sum, hits)
	}
}

func TestSparseHalts(t *testing.T) {
	m := sparse(2, 1, amount("1"), nil)
	s := newStream(1)
	session := NewReleaser(entropy.FromReader(s)).OpenSparse(m)
	for i := range 2 {
		if a, err := session.Ask(Seal(1_000_000), 0); err != nil || !a.Above || session.Left() != 1-i {
			t.Fatalf("%v, %v, %d left", a, err, session.Left())
		}
	}
	read := s.read
	a, err := session.Ask(Seal(1_000_000), 0)
	if !errors.Is(err, ErrHalted) || a != (SparseAnswer{}) || s.read != read {
		t.Errorf("%v, %v, and %d bytes", a, err, s.read-read)
	}
	// Two values are refused, and draw nothing.
	open := NewReleaser(entropy.FromReader(s)).OpenSparse(m)
	for _, v := range []Exact{Seal(), Seal(1, 2), {}} {
		if _, err := open.Ask(v, 0); !errors.Is(err, errSparse) || s.read != read {
			t.Errorf("%v, and %d bytes", err, s.read-read)
		}
	}
}

func TestSparseExtremes(t *testing.T) {
	big128 := func(a, b int64) *big.Int { return new(big.Int).Add(big.NewInt(a), big.NewInt(b)) }
	ends := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range ends {
		for _, b := range ends {
			for _, c := range ends {
				for _, d := range ends {
					if got, want := atLeast(a, b, c, d), big128(a, b).Cmp(big128(c, d)) >= 0; got != want {
						t.Fatalf("%d + %d >= %d + %d is %v", a, b, c, d, want)
					}
				}
			}
		}
	}
	m := sparse(1000, 1, dp.One, func(s *SparseConfig) { s.Values = dp.One })
	s := seeded(1).OpenSparse(m)
	for range 200 {
		if a, _ := s.Ask(Seal(math.MaxInt64), math.MinInt64); !a.Above || a.Value < math.MaxInt64/2 {
			t.Fatal("the largest is not above the smallest", a)
		}
		if a, _ := s.Ask(Seal(math.MinInt64), math.MaxInt64); a.Above {
			t.Fatal("the smallest is above the largest")
		}
	}
}

func TestSparseRefusesBadConfigs(t *testing.T) {
	good := SparseConfig{Sensitivity: l1(1), Above: 1, Epsilon: dp.One}
	for _, c := range []struct {
		change func(*SparseConfig)
		want   error
	}{
		{func(s *SparseConfig) { s.Above = 0 }, errSparse},
		{func(s *SparseConfig) { s.Above = -1 }, errSparse},
		{func(s *SparseConfig) { s.Above = math.MaxInt }, ErrScale},
		{func(s *SparseConfig) { s.Epsilon = 0 }, ErrNoPrivacy},
		{func(s *SparseConfig) { s.Epsilon = 1 }, ErrNoPrivacy},
		{func(s *SparseConfig) { s.Epsilon = dp.Unbounded }, ErrNoPrivacy},
		{func(s *SparseConfig) { s.Values = dp.Unbounded }, ErrNoPrivacy},
		{func(s *SparseConfig) { s.Values = 1; s.Above = 1 << 20 }, ErrScale},
		{func(s *SparseConfig) { s.Sensitivity = dp.Sensitivity{} }, errNorm},
		{func(s *SparseConfig) { s.Sensitivity = l2squared(1) }, errNorm},
		{func(s *SparseConfig) { s.Sensitivity = l1(1 << 50) }, ErrScale},
	} {
		bad := good
		c.change(&bad)
		if m, err := NewSparse(bad); !errors.Is(err, c.want) || m != nil {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// With the stated probability all answers are right up to alpha.
func TestSparseAccuracy(t *testing.T) {
	const runs, k, beta = 3000, 40, 0.1
	for _, refresh := range []bool{false, true} {
		m := sparse(3, 1, dp.One, func(s *SparseConfig) { s.Refresh = refresh })
		alpha := m.Accuracy(k, beta)
		wrong, r := 0, seeded(41)
		for range runs {
			s, bad := r.OpenSparse(m), false
			for i := range k {
				// Half a step inside of what must be answered right, in turn.
				v := -alpha - 1
				if i%15 == 14 {
					v = alpha
				}
				a, err := s.Ask(Seal(v), 0)
				if err != nil {
					break
				}
				bad = bad || a.Above != (v > 0)
			}
			if bad {
				wrong++
			}
		}
		if low := stat.LowerBound(wrong, runs, 1e-6); low > beta {
			t.Errorf("%d of %d sessions are wrong by more than %d", wrong, runs, alpha)
		}
		t.Logf("alpha %d: %d of %d sessions wrong", alpha, wrong, runs)
	}
	m := sparse(3, 1, dp.One, nil)
	if m.Accuracy(0, 0.1) != 0 || m.Accuracy(5, 0) != math.MaxInt64 || m.Accuracy(10, 0.1) >= m.Accuracy(1000, 0.1) ||
		m.HalfWidth(0.1) != 0 {
		t.Error("the ends of Accuracy")
	}
}

func TestSparseIsSafeForConcurrentUse(t *testing.T) {
	s := NewReleaser(noise.NewSource()).OpenSparse(sparse(10, 1, dp.One, nil))
	var mu sync.Mutex
	above := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				a, err := s.Ask(Seal(0), 0)
				if a.Above && err == nil {
					mu.Lock()
					above++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if above != 10 || s.Left() != 0 {
		t.Errorf("%d answers \"above\", %d left", above, s.Left())
	}
}

// Who prints a session does not see the threshold's noise.
func TestSparseSessionsAreNotPrinted(t *testing.T) {
	s := seeded(1).OpenSparse(sparse(1, 1<<20, dp.One, nil))
	if _, err := s.Ask(Seal(-1<<40), 0); err != nil {
		t.Fatal(err)
	}
	z := s.threshold.Open()[0]
	secret := fmt.Sprint(abs(z))
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x"} {
		if text := fmt.Sprintf(verb, s); strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", abs(z))) {
			t.Errorf("%s shows %s", verb, text)
		}
		if text := fmt.Sprintf(verb, struct{ s *SparseSession }{s}); strings.Contains(text, secret) {
			t.Errorf("%s shows %s", verb, text)
		}
	}
}

// BenchmarkSparse asks a million questions that are answered "below".
func BenchmarkSparse(b *testing.B) {
	m := sparse(10, 1, dp.One, nil)
	r := NewReleaser(noise.NewSource())
	const k = 1_000_000
	for b.Loop() {
		s := r.OpenSparse(m)
		for i := range int64(k) {
			if a, _ := s.Ask(Seal(i%100), 1_000_000); a.Above {
				b.Fatal("above")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/k, "ns/question")
}
