package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/sessiontest"
)

// processPast is all that a process leaves behind when it ends.
type processPast struct {
	charges []session.Charge
	entries [][]byte
}

// recordingHost is a host that remembers its charges, and whose journal fails with every so many
// entries, every other time after having written.
type recordingHost struct {
	session.Host
	*processPast
	every, n int
}

func (h *recordingHost) Charge(ctx context.Context, c session.Charge) (session.Receipt, error) {
	r, err := h.Host.Charge(ctx, c)
	if err == nil && !r.Again {
		h.charges = append(h.charges, c)
	}
	return r, err
}

func (h *recordingHost) Append(ctx context.Context, e []byte) error {
	h.n++
	fails := h.every > 0 && h.n%h.every == 0
	if !fails || h.n%(2*h.every) == 0 {
		if err := h.Host.Append(ctx, e); err != nil {
			return err
		}
		h.entries = append(h.entries, e)
	}
	if fails {
		return errors.New("the disk is full")
	}
	return nil
}

// life is a process that goes on from a past: it has the same randomness as every other with the
// same seed, and is asked some questions.
func (p *processPast) life(
	t *testing.T, c Config, data *histogram.Table, seed uint64, every int, questions ...*linear.Query,
) []sessiontest.Event {
	t.Helper()
	ctx := context.Background()
	memory := host(c)
	for _, charge := range p.charges {
		if _, err := memory.Charge(ctx, charge); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range p.entries {
		if err := memory.Append(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	bytes := detrand.NewStream("replay", seed)
	r := mech.NewReleaser(entropy.FromReader(bytes))
	w := sessiontest.New(memory, r, bytes.Drawn, func(c session.Charge) bool { return strings.HasPrefix(c.Name, "round ") })
	s := must(Open(ctx, c, func(context.Context) (*histogram.Table, error) { w.Look(); return data, nil }, r, &recordingHost{w, p, 0, 0}))
	s.host = &recordingHost{w, p, every, int(seed % 7)}
	for _, q := range questions {
		way, cost, quoteErr := s.Quote(q)
		for range 3 {
			a, err := s.Ask(ctx, q)
			if err == nil {
				w.Say(fmt.Sprint(*a, way, cost, quoteErr, s.Report(), s.Synthetic()))
				break
			}
			w.Fail(err)
		}
	}
	return w.Events()
}

func (p processPast) copy() *processPast {
	return &processPast{slices.Clone(p.charges), slices.Clone(p.entries)}
}

// neighbours makes two histograms that differ in one person: one who is there or not, or who is
// exchanged.
func neighbours(t *testing.T, d detrand.Choices, c Config) (x, y *histogram.Table) {
	counts := make([]int64, c.Domain.Cells())
	for range int(c.Size) {
		counts[min(d.Below(len(counts)), d.Below(len(counts)))]++
	}
	other := slices.Clone(counts)
	at := d.Below(len(counts))
	for counts[at] == 0 {
		at = (at + 1) % len(counts)
	}
	other[at]--
	if c.Neighbours == dp.Substitute {
		other[(at+1+d.Below(len(counts)-1))%len(counts)]++
	}
	if d.One(2) {
		counts, other = other, counts
	}
	return dense(c.Domain, counts), dense(c.Domain, other)
}

// drawQuestion draws a question: a product of sets, or weights.
func drawQuestion(t *testing.T, d detrand.Choices, c Config) *linear.Query {
	if c.Steps == 1 || d.One(2) {
		return anySubsets(t, d, c.Domain, c.Steps)
	}
	f := linear.Factor{Attributes: []int{0}}
	for range c.Domain.Attributes()[0].Values {
		f.Weights = append(f.Weights, int64(d.Below(int(c.Steps)+1)))
	}
	return must(c.Domain.Query(c.Steps, f))
}

// cheapPast is the past of a stream at whose prices rounds are bought from the first question on.
func cheapPast(t *testing.T, c Config) *processPast {
	p := prices{Cache: 100 * dp.One, Plain: dp.One, Limit: c.Budget, First: dp.One / 2, Each: dp.One, Pay: dp.One / 2,
		Threshold: 3 * c.Steps, Predictor: c.predictor()}
	if c.Predictor == None {
		p.First, p.Each, p.Pay, p.Threshold = 0, 0, 0, 0
	}
	if c.Currency == mech.Concentrated {
		p.Plain, p.Pay = dp.One/4, dp.One/8
	}
	first := must(writeHead(c, p))
	return &processPast{entries: [][]byte{first}}
}

// replayConfigs are streams that are small enough for one person to make a difference.
func replayConfigs(t *testing.T) (out []Config) {
	for _, currency := range []mech.Currency{mech.Pure, mech.Concentrated} {
		for _, n := range []dp.Neighbours{dp.AddRemove, dp.Substitute} {
			for _, k := range []Kind{Ensemble, Weights, Halving, None} {
				c := Config{Domain: domain(t, 3, 2), Size: 60, Neighbours: n, Alpha: 0.2, Beta: 0.3, Queries: 60, Steps: 1,
					Currency: currency, Budget: 30 * dp.One, Predictor: k}
				switch {
				case k == Halving:
					c.Domain, c.Size, c.Steps, c.Alpha = domain(t, 3), 30, 4, 0.3
				case n == dp.Substitute:
					c.Steps = 3
				}
				if currency == mech.Concentrated {
					c.Budget = 10 * dp.One
				}
				out = append(out, c)
			}
		}
	}
	return out
}

type verdictCount struct {
	partings                map[sessiontest.Parting]int
	questions, calls, moved int
	ratio                   float64
}

func (s *verdictCount) add(t *testing.T, where string, history, a, b []sessiontest.Event) sessiontest.Verdict {
	t.Helper()
	for _, run := range [][]sessiontest.Event{a, b} {
		if err := sessiontest.Rules(slices.Concat(history, run)); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
	}
	v, err := sessiontest.Compare(a, b)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	s.partings[v.Parting]++
	s.questions, s.calls, s.moved, s.ratio = s.questions+v.Questions, s.calls+v.Calls, s.moved+v.Moved, max(s.ratio, v.Ratio)
	return v
}

// On neighbouring databases with the same randomness and the same past a stream does the same: the
// same charges, the same entries, the same calls on values that are at most one person apart, until
// a comparison or an answer makes the difference. The past is that of one of the two, so that there
// is one when they would have gone apart long ago.
func TestReplayOnNeighbours(t *testing.T) {
	seen := verdictCount{partings: map[sessiontest.Parting]int{}}
	ways := map[byte]int{}
	lives := uint64(daily.Rounds(2, 3))
	for i, c := range replayConfigs(t) {
		for seed := range lives {
			d := detrand.New("replay", seed*100+uint64(i))
			x, y := neighbours(t, d, c)
			now := &processPast{}
			if seed > 0 {
				now = cheapPast(t, c)
			}
			var history []sessiontest.Event
			for step := range daily.Rounds(32, 45) { // each lives through all before it again
				q, every := drawQuestion(t, d, c), 0
				if d.One(4) {
					every = 1 + d.Below(4)
				}
				where := fmt.Sprintf("config %d (%s), life %d, question %d, failing %d", i, c.Predictor, seed, step, every)
				next, other := now.copy(), now.copy()
				at := seed*1000 + uint64(step)
				a, b := next.life(t, c, x, at, every, q), other.life(t, c, y, at, every, q)
				seen.add(t, where, history, a, b)
				history, now = append(history, a...), next
				if d.One(2) { // whose past it is must not matter
					x, y = y, x
				}
			}
			for _, e := range now.entries {
				ways[e[0]]++
			}
		}
	}
	t.Logf("%d answers alike, %d calls, %d on values that differ, up to %v of the sensitivity; apart %v; entries %d free, %d fired, %d "+
		"plain, %d marginals, %d rounds",
		seen.questions, seen.calls, seen.moved, seen.ratio, seen.partings, ways[freeEntry], ways[firedEntry], ways[plainEntry],
		ways[bonusEntry], ways[openedEntry])
	if testing.Short() {
		return
	}
	if seen.moved < daily.Rounds(300, 500) || seen.partings[sessiontest.ByComparison] < daily.Rounds(5, 10) ||
		seen.partings[sessiontest.ByRelease] < 100 || seen.ratio != 1 {
		t.Error("too little was seen")
	}
	for _, kind := range []byte{freeEntry, firedEntry, plainEntry, bonusEntry, openedEntry} {
		if ways[kind] < 10 {
			t.Errorf("%d entries of kind %c", ways[kind], kind)
		}
	}
}

// The same for processes that live on, until the two go apart.
func TestReplayOfLongLives(t *testing.T) {
	seen := verdictCount{partings: map[sessiontest.Parting]int{}}
	lives := uint64(6)
	if testing.Short() {
		lives = 2
	}
	for i, c := range replayConfigs(t) {
		for seed := range lives {
			d := detrand.New("long", seed*100+uint64(i))
			x, y := neighbours(t, d, c)
			var questions []*linear.Query
			for range 30 {
				questions = append(questions, drawQuestion(t, d, c))
			}
			every := int(seed%4) * 3
			// What is bought first tells them apart at once, so they begin with the same.
			now := cheapPast(t, c)
			history := now.life(t, c, x, seed+1000, 0, questions[:5]...)
			a, b := now.copy().life(t, c, x, seed, every, questions[5:]...), now.copy().life(t, c, y, seed, every, questions[5:]...)
			seen.add(t, fmt.Sprintf("config %d (%s), life %d", i, c.Predictor, seed), history, a, b)
		}
	}
	t.Logf("%d answers alike, %d calls, %d on values that differ, apart %v", seen.questions, seen.calls, seen.moved, seen.partings)
}

// tinyRound is a stream over two cells whose budget is one round: 1/2 for the threshold, 1 for the
// questions, 1/2 for the answer.
func tinyRound(t testing.TB) (Config, prices) {
	c := Config{Domain: domain(t, 2), Size: 12, Neighbours: dp.Substitute, Alpha: 0.3, Beta: 0.3, Queries: 20, Steps: 1,
		Currency: mech.Pure, Budget: 2 * dp.One, Predictor: Weights}
	return c, prices{Cache: 20 * dp.One, Plain: dp.One * 3 / 2, Limit: 2 * dp.One, First: dp.One / 2, Each: dp.One, Pay: dp.One / 2,
		Threshold: 1, Predictor: Weights}
}

// forgetful is a host that keeps the secret of a round, with which again opens one that has ended.
type forgetful struct {
	session.Host
	secret []byte
}

func (f *forgetful) Append(ctx context.Context, e []byte) error {
	if e[0] == openedEntry {
		r := &reader{b: e[1:]}
		r.number()
		f.secret = r.b
	}
	return f.Host.Append(ctx, e)
}

// reopenRound is the bug: the round goes on, and what was answered may be asked again.
func reopenRound(s *Session) {
	f, ok := s.host.(*forgetful)
	if !ok {
		s.host = &forgetful{Host: s.host}
		return
	}
	if s.round == nil && f.secret != nil {
		s.round, _ = s.releaser.ResumeAbove(s.state.tariff.above, f.secret)
		s.state.secret = f.secret
	}
	clear(s.state.answers)
}

// boundLoss asks a stream of one round about its cells, as a black box, and bounds from below what
// it loses on two histograms. It returns the most that was charged. Change breaks something, before
// the first question and after every one.
func boundLoss(t *testing.T, n int, p prices, questions []uint64, change func(*Session)) (stat.Bound, dp.Amount) {
	t.Helper()
	c, _ := tinyRound(t)
	tariff, err := p.tariff(c) // once, because it takes longer than all else, which is why this is not Open
	if err != nil {
		t.Fatal(err)
	}
	var asks []*linear.Query
	for _, set := range questions {
		asks = append(asks, subsets(t, c.Domain, 1, set))
	}
	var mu sync.Mutex
	charged := dp.Amount(0)
	once := func(r *mech.Releaser, data *histogram.Table) (out int64) {
		st, err := newState(c, tariff)
		if err != nil {
			t.Error(err)
			return 0
		}
		h := host(c)
		s := &Session{h, loaderOf(data), &sharedState{config: c, releaser: r, state: st, unanswered: map[key]bool{}}}
		change(s)
		for _, q := range asks {
			a, err := s.Ask(context.Background(), q)
			// What was said, and of a value whether it is nearer to x.
			out *= 20
			if err == nil {
				out += map[Way]int64{Predicted: 2, Paid: 4, Plain: 6, Cached: 8, Unchecked: 10}[a.Way]
				if a.Value >= 5 {
					out++
				}
			}
			change(s)
		}
		mu.Lock()
		defer mu.Unlock()
		charged = max(charged, h.Spent().Epsilon)
		return out
	}
	// All cells are predicted as 6. "Predicted" for the first is likelier on x, and then "paid" for
	// the second too, which is the worst that can be asked.
	var drawn [2]stat.Samples
	for i, counts := range [][]int64{{5, 4}, {4, 5}} {
		data := dense(c.Domain, counts)
		drawn[i], err = stat.Draw(context.Background(), n, func(part int) *noise.Source {
			return entropy.FromReader(detrand.NewStream(fmt.Sprint("lost ", i), uint64(part)))
		}, func(src *noise.Source) func() int64 {
			r := mech.NewReleaser(src)
			return func() int64 { return once(r, data) }
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return stat.Epsilon(drawn[0], drawn[1], false, 0, 1e-6), charged
}

// A whole stream of one round, as a black box, loses no more than it charges, and not much less.
func TestStreamStatistics(t *testing.T) {
	n := daily.Rounds(20_000, 60_000)
	if testing.Short() {
		n = 16_000
	}
	_, p := tinyRound(t)
	b, charged := boundLoss(t, n, p, []uint64{1, 2, 1}, func(*Session) {})
	t.Logf("loses at least %.3f of %v: %s", b.Lower, charged, b.Detail)
	if charged != 2*dp.One {
		t.Errorf("%v was charged", charged)
	}
	if b.Lower > charged.Float() {
		t.Errorf("a stream loses at least %v, and charges %v: %s", b.Lower, charged, b.Detail)
	}
	if !testing.Short() && b.Lower < charged.Float()/2 {
		t.Errorf("the neighbours are too mild to say anything: %v", b)
	}
}

// The same stream with a mistake loses more than it charges, and that is seen.
func TestStreamStatisticsCatch(t *testing.T) {
	n := daily.Rounds(15_000, 30_000)
	_, p := tinyRound(t)
	short := p
	short.Each = 4 * dp.One
	for name, f := range map[string]func() stat.Bound{
		"questions with a quarter of their noise": func() stat.Bound {
			b, _ := boundLoss(t, n/2, short, []uint64{1, 2, 1}, func(s *Session) {
				if s.state.tariff.Round.Epsilon > 2*dp.One { // at the price of the honest one
					t := *s.state.tariff
					t.Round.Epsilon = 2 * dp.One
					s.state.tariff = &t
				}
			})
			return b
		},
		"a round that does not end": func() stat.Bound {
			b, charged := boundLoss(t, n, p, []uint64{1, 2, 2, 2, 2, 2, 2}, reopenRound)
			if charged != 2*dp.One {
				t.Errorf("%v was charged", charged)
			}
			return b
		},
	} {
		if b := f(); b.Lower <= 2 {
			t.Errorf("%s: not caught: %v", name, b)
		} else {
			t.Logf("%s: loses at least %.3f, charges 2", name, b.Lower)
		}
	}
}
