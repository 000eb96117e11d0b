package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/histogram"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
)

// small is a stream that in 150 questions does everything that one can do.
func small(t testing.TB, cur mech.Currency) (Config, *histogram.Table, []int64) {
	d := domain(t, 2, 3, 4)
	dice := detrand.New("small", 1)
	weights := make([]float64, d.Cells())
	for i := range weights {
		weights[i] = float64(1 + dice.Below(100)*dice.Below(10))
	}
	counts := divideByWeights(20_000, weights)
	c := Config{Domain: d, Size: 20_000, Alpha: 0.05, Beta: 0.01, Queries: 3000, Steps: 1, Currency: cur, Budget: amountOf("10"),
		Predictor: Weights}
	return c, dense(d, counts), counts
}

func questions(t testing.TB, d *linear.Domain, n int, seed uint64) []*linear.Query {
	dice := detrand.New("questions", seed)
	out := make([]*linear.Query, n)
	for i := range out {
		out[i] = anySubsets(t, dice, d, 1)
	}
	return out
}

// The first entries of two streams as they were written when a round was calibrated to the noise of
// its threshold alone.
var earlierHeads = map[mech.Currency]string{
	mech.Pure: `h{"Version":1,"Config":"958121d4b7c828f07d2156a093ae511d22dc66e55f2fef279374c93069cec784",` +
		`"Prices":[13859580777,12510368276,10995116277760,24805785440,35705862031,11737030710,556,"weights"]}`,
	mech.Concentrated: `h{"Version":1,"Config":"657c18609cb07fa8dad7b24c022a73c47fe1d531398becfc2835cd6ef6d0e1b5",` +
		`"Prices":[11870768,12047322,42734763000,20988231736,33971181365,11170130,580,"weights"]}`,
}

// A stream that an earlier version opened goes on at its own prices, with its own noise, and what
// it promised holds: its rounds go wrong no more often than their share of beta. A new one is
// cheaper.
func TestOpenedEarlier(t *testing.T) {
	for cur, head := range earlierHeads {
		c, data, _ := small(t, cur)
		h := host(c)
		if err := h.Append(context.Background(), []byte(head)); err != nil {
			t.Fatal(err)
		}
		s := must(Open(context.Background(), c, loaderOf(data), releaser(1), h))
		now := must(Price(c))
		then := s.Tariff()
		round := c.amount(then.Round)
		if round <= c.amount(now.Round) {
			t.Errorf("a round cost %v, and costs %v", then.Round, now.Round)
		}
		if got := c.wrong(&then); got > c.Beta*round.Float()/then.Limit.Float() {
			t.Errorf("a round goes wrong with probability %v", got)
		}
		for _, q := range questions(t, c.Domain, 150, 1) {
			before := s.state.rounds
			a := must(s.Ask(context.Background(), q))
			if s.state.rounds > before && !then.Round.Within(a.Cost) {
				t.Errorf("a round of %v was charged %v", then.Round, a.Cost)
			}
		}
		if cur == mech.Pure && s.state.rounds == 0 || s.Report().Spent != h.Spent() {
			t.Errorf("%d rounds; the host has %v, and the stream %v", s.state.rounds, h.Spent(), s.Report().Spent)
		}
	}
}

// A stream that is opened anew before every question pays and answers what one does that is not,
// from the same randomness.
func TestRestart(t *testing.T) {
	for _, cur := range []mech.Currency{mech.Pure, mech.Concentrated} {
		c, data, _ := small(t, cur)
		qs := questions(t, c.Domain, 150, 1)
		run := func(restart bool) (out []Answer, r Report, spent dp.Cost) {
			noise, h := releaser(1), host(c)
			s := must(Open(context.Background(), c, loaderOf(data), noise, h))
			for i, q := range qs {
				if i == 30 { // a lie, so that alarms go off
					if err := s.Learn(context.Background(), predict.Released{Query: q, Answer: 19_000, Scale: 1}); err != nil {
						t.Fatal(err)
					}
				}
				// Every 7th is enough for all kinds of entries to come before and after a restart.
				if restart && (i < 40 || i%7 == 0) {
					s = must(Open(context.Background(), c, loaderOf(data), noise, h))
				}
				way, cost, err := s.Quote(q)
				if err != nil {
					t.Fatal(err)
				}
				a := must(s.Ask(context.Background(), q))
				if way != a.Way && !(way == Predicted && (a.Way == Paid || a.Way == Plain)) || !a.Cost.Within(cost) && a.Cost != cost {
					t.Errorf("quoted %s at most %v, was %s at %v", way, cost, a.Way, a.Cost)
				}
				out = append(out, *a)
			}
			return out, s.Report(), h.Spent()
		}
		want, r, spent := run(false)
		got, again, spentAgain := run(true)
		if !slices.Equal(want, got) {
			t.Error("after restarts the answers are others")
		}
		if spent != spentAgain || spent != again.Spent {
			t.Errorf("after restarts %v is spent, and not %v", spentAgain, spent)
		}
		if cur == mech.Pure && (r.Paid == 0 || r.Plain == 0 || r.Predicted == 0 || r.Marginals == 0) {
			t.Errorf("not everything happened: %+v", r)
		}
	}
}

var errKilled = errors.New("killed")

// killedHost is a host that dies in the middle of the n-th call, before or after it has done it.
// Until then it is one that works.
type killedHost struct {
	*session.Memory
	n     int
	after bool
	dead  bool
}

func (k *killedHost) call(do func() error) error {
	if k.dead {
		return errKilled
	}
	k.n--
	if k.n > 0 {
		return do()
	}
	k.dead = true
	if k.after {
		_ = do()
	}
	return errKilled
}

func (k *killedHost) Charge(ctx context.Context, c session.Charge) (r session.Receipt, err error) {
	err = k.call(func() error { r, err = k.Memory.Charge(ctx, c); return err })
	return r, err
}

func (k *killedHost) Append(ctx context.Context, e []byte) error {
	return k.call(func() error { return k.Memory.Append(ctx, e) })
}

// Killed at every call to the host, before it or after it: what was released stays, what was
// charged is charged once, and the journal and the charges agree in the end.
func TestKilled(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	qs := questions(t, c.Domain, 60, 2)
	ctx := context.Background()
	for n := 1; n < 100; n += 1 + n/20 {
		for _, after := range []bool{false, true} {
			h := host(c)
			k := &killedHost{h, n, after, false}
			noise := releaser(uint64(n))
			released := map[string]int64{}
			ask := func(s *Session, q *linear.Query) error {
				a, err := s.Ask(ctx, q)
				if err != nil {
					return err
				}
				if v, ok := released[q.Key()]; ok && v != a.Value {
					t.Fatalf("killed at %d: two answers to one question, %d and %d", n, v, a.Value)
				}
				released[q.Key()] = a.Value
				return nil
			}
			at := 0
			s, err := Open(ctx, c, loaderOf(data), noise, k)
			if err == nil {
				for ; at < len(qs) && err == nil; at++ {
					err = ask(s, qs[at])
				}
			}
			if err != nil && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			s = must(Open(ctx, c, loaderOf(data), noise, h))
			for _, q := range qs { // from the beginning, repeated ones among them
				if err := ask(s, q); err != nil {
					t.Fatal(err)
				}
			}
			// A charge that was made and not used is used by the next of its kind, so at most one
			// of them is left over.
			owed := h.Spent().Sub(s.Report().Spent).Epsilon
			if tariff := s.Tariff(); owed != 0 && owed != tariff.Plain.Epsilon && owed != tariff.Round.Epsilon {
				t.Fatalf("killed at %d: %v was charged, and the journal knows of %v", n, h.Spent(), s.Report().Spent)
			}
		}
	}
}

// flakyHost is a host whose journal fails now and then, having written the entry or not, while the
// process goes on.
type flakyHost struct {
	*session.Memory
	dice detrand.Choices
}

func (f flakyHost) Append(ctx context.Context, e []byte) error {
	if f.dice.One(5) {
		if f.dice.One(2) {
			_ = f.Memory.Append(ctx, e)
		}
		return errKilled
	}
	return f.Memory.Append(ctx, e)
}

// A journal that fails without saying whether it wrote costs nothing twice and changes no answer.
func TestFlakyJournal(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	h := host(c)
	ctx := context.Background()
	if _, err := Open(ctx, c, loaderOf(data), releaser(1), h); err != nil {
		t.Fatal(err)
	}
	s := must(Open(ctx, c, loaderOf(data), releaser(1), flakyHost{h, detrand.New("flaky", 1)}))
	released := map[string]int64{}
	failed := 0
	for _, q := range questions(t, c.Domain, 300, 3) {
		a, err := s.Ask(ctx, q)
		if err != nil {
			failed++
			continue
		}
		if v, ok := released[q.Key()]; ok && v != a.Value {
			t.Fatalf("two answers to one question, %d and %d", v, a.Value)
		}
		released[q.Key()] = a.Value
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
	again := must(Open(ctx, c, loaderOf(data), releaser(2), h))
	for _, q := range questions(t, c.Domain, 300, 3) {
		if v, ok := released[q.Key()]; ok {
			if a, err := again.Ask(ctx, q); err != nil || a.Value != v || a.Way != Cached {
				t.Fatalf("released %d, and after a restart %v, %v", v, a, err)
			}
		}
	}
	owed := h.Spent().Sub(again.Report().Spent).Epsilon
	if tariff := again.Tariff(); owed > tariff.Round.Epsilon.Add(tariff.Plain.Epsilon) {
		t.Errorf("%v was charged and never used", owed)
	}
}

// A journal of another configuration, or of something else, is refused.
func TestForeignJournal(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	ctx := context.Background()
	_, h := open(t, c, data, 1)
	other := c
	other.Alpha = 0.04
	if _, err := Open(ctx, other, loaderOf(data), releaser(1), h); !errors.Is(err, ErrJournal) {
		t.Error(err)
	}
	other = c
	other.Domain = domain(t, 2, 4, 3)
	if _, err := Open(ctx, other, loaderOf(data), releaser(1), h); !errors.Is(err, ErrJournal) {
		t.Error(err)
	}
	for _, bad := range []string{"", "x", "o", "f", "f\x01", "p\xff", "a", "a short", "m\x7f\x01", "l\x00\x00", "hello",
		fmt.Sprintf("f%c%c", 2, 0)} {
		h := host(c)
		if _, err := Open(ctx, c, loaderOf(data), releaser(1), h); err != nil {
			t.Fatal(err)
		}
		if err := h.Append(ctx, []byte(bad)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(ctx, c, loaderOf(data), releaser(1), h); !errors.Is(err, ErrJournal) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Two processes on one journal would give two things for one charge. The journal that they leave is
// refused.
func TestTwoProcesses(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	q := questions(t, c.Domain, 1, 1)[0]
	opened := func(n int64) []byte { return append(newEntry(openedEntry).number(n).b, 0, 0, 0, 0, 0, 0, 0, 5) }
	fired := newEntry(firedEntry).answer(q, 1).b
	plain := func(n int64) []byte { return newEntry(plainEntry).answer(q, 1).number(n).b }
	marginal := func(n int64) []byte { return newEntry(bonusEntry).number(n).number(2).number(1).number(1).b }
	for name, entries := range map[string][][]byte{
		"a round in a round":        {opened(1), opened(2)},
		"a round twice":             {opened(1), fired, opened(1)},
		"an alarm without a round":  {fired},
		"two alarms in a round":     {opened(1), fired, fired},
		"a plain answer twice":      {plain(1), plain(1)},
		"a plain answer left out":   {plain(2)},
		"a marginal twice":          {marginal(1), marginal(1)},
		"a threshold below nothing": {append(newEntry(openedEntry).number(1).b, 255, 255, 255, 255, 255, 255, 255, 251)},
		"good":                      {opened(1), fired, plain(1), opened(2), marginal(1), plain(2)},
	} {
		_, h := open(t, c, data, 1)
		for _, e := range entries {
			if err := h.Append(context.Background(), e); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Open(context.Background(), c, loaderOf(data), releaser(1), h)
		if good := name == "good"; good != (err == nil) || !good && !errors.Is(err, ErrJournal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The entries of a free and of a paid answer are of the same length, whatever they say.
func TestSameLength(t *testing.T) {
	c, _, _ := small(t, mech.Pure)
	for _, q := range questions(t, c.Domain, 5, 1) {
		for _, v := range []int64{0, 1, -3, 1 << 40} {
			if a, b := newEntry(freeEntry).answer(q, 7).b, newEntry(firedEntry).answer(q, v).b; len(a) != len(b) {
				t.Errorf("%d and %d bytes", len(a), len(b))
			}
		}
	}
}

// A hundred thousand free answers are read in no time, and stay what they were.
func TestLongJournal(t *testing.T) {
	c, data, _ := small(t, mech.Pure)
	_, h := open(t, c, data, 1)
	for i := range 100_000 {
		k := make([]byte, 120)
		copy(k, fmt.Sprint(i))
		if err := h.Append(context.Background(), newEntry(freeEntry).bytes(k).b); err != nil {
			t.Fatal(err)
		}
	}
	s := must(Open(context.Background(), c, loaderOf(data), releaser(1), h))
	if r := s.Report(); r.Predicted != 100_000 || r.Different != 100_000 {
		t.Errorf("%+v", r)
	}
}
