package holdout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

// A session that is opened anew before every question, on the same randomness, says the same and
// charges the same as one that never stops.
func TestRestartChangesNothing(t *testing.T) {
	for seed := range uint64(50) {
		questions := script(seed, 30)
		run := func(restart bool) (out []string) {
			h, r := richHost(), mech.NewReleaser(detrand.Noise("restart", seed))
			s := open(small(), r, h)
			for _, q := range questions {
				if restart {
					s = open(small(), r, h)
				}
				a, err := s.Ask(ctx, q)
				out = append(out, answerText(t, a, err))
				if err == nil {
					out = append(out, fmt.Sprint(a.Cost, a.Left, a.Receipt))
				}
			}
			// Everything again, which is free, also for another process.
			s = open(small(), r, h)
			for _, q := range questions {
				a, err := s.Ask(ctx, q)
				out = append(out, answerText(t, a, err))
			}
			return append(out, h.Spent().String())
		}
		one, many := run(false), run(true)
		for i := range one {
			if one[i] != many[i] {
				t.Fatalf("seed %d: %s, and with restarts %s", seed, one[i], many[i])
			}
		}
	}
}

var errPower = errors.New("the power is gone")

// cutHost is a host that fails at one of its steps: before it is done, or after. From then on the
// process is dead.
type cutHost struct {
	*session.Memory
	at    int
	after bool
	done  int
}

func (c *cutHost) step(do func() error) error {
	c.done++
	switch {
	case c.done < c.at:
		return do()
	case c.done == c.at && c.after:
		if err := do(); err != nil {
			return err
		}
	}
	return errPower
}

func (c *cutHost) Charge(ctx context.Context, charge session.Charge) (r session.Receipt, err error) {
	err = c.step(func() (err error) { r, err = c.Memory.Charge(ctx, charge); return err })
	return r, err
}

func (c *cutHost) Append(ctx context.Context, entry []byte) error {
	return c.step(func() error { return c.Memory.Append(ctx, entry) })
}

// Killed at any charge and any entry, before or after it is on disk: what was said before is said
// again, the question in between is answered, every round is charged once, and no round ends twice.
func TestKilledAnywhere(t *testing.T) {
	for seed := range uint64(10) {
		questions := script(100+seed, 25)
		for at := 1; at < 60; at++ {
			for _, after := range []bool{false, true} {
				memory := richHost()
				host := &cutHost{Memory: memory, at: at, after: after}
				r := mech.NewReleaser(detrand.Noise("killed", seed))
				s := open(small(), r, host)
				said := map[string]string{}
				next := 0
				for ; next < len(questions); next++ {
					a, err := s.Ask(ctx, questions[next])
					if errors.Is(err, errPower) {
						break
					}
					said[questions[next].Key] = answerText(t, a, err)
				}
				s = open(small(), r, memory)
				for _, q := range questions {
					a, err := s.Ask(ctx, q)
					got := answerText(t, a, err)
					if before, ok := said[q.Key]; ok && got != before {
						t.Fatalf("seed %d, cut at %d: %s is %s, and was %s", seed, at, q.Key, got, before)
					}
				}
				entries, _ := memory.Entries(ctx)
				st := must(s.recall(&state{answers: map[string]givenAnswer{}}, entries))
				if want := s.tariff.Round.Epsilon.Mul(uint64(len(st.receipts))); memory.Spent().Epsilon != want {
					t.Fatalf("seed %d, cut at %d: %d rounds cost %v", seed, at, len(st.receipts), memory.Spent())
				}
				if len(st.receipts)-st.used != len(st.receipts[st.used:]) || st.used > 5 || len(st.receipts) > 5 ||
					len(st.receipts) < st.used {
					t.Fatalf("seed %d, cut at %d: %d rounds, %d answers", seed, at, len(st.receipts), st.used)
				}
			}
		}
	}
}

// flakyHost is a host whose every third entry gets written and reported as failed.
type flakyHost struct {
	*session.Memory
	n int
}

func (f *flakyHost) Append(ctx context.Context, entry []byte) error {
	f.n++
	if err := f.Memory.Append(ctx, entry); err != nil || f.n%3 != 0 {
		return err
	}
	return errPower
}

// The same session goes on after entries of which it cannot tell whether they were written: it
// reads what is there.
func TestUncertainEntries(t *testing.T) {
	h := &flakyHost{Memory: richHost()}
	s := open(small(), mech.NewReleaser(detrand.Noise("flaky", 1)), h)
	said, failed := map[string]string{}, 0
	for _, q := range script(7, 40) {
		for {
			a, err := s.Ask(ctx, q)
			if errors.Is(err, errPower) {
				failed++
				continue
			}
			said[q.Key] = answerText(t, a, err)
			break
		}
	}
	s = open(small(), mech.NewReleaser(detrand.Noise("flaky", 2)), h.Memory)
	for _, q := range script(7, 40) {
		a, err := s.Ask(ctx, q)
		if got := answerText(t, a, err); got != said[q.Key] {
			t.Errorf("%s is %s, and was %s", q.Key, got, said[q.Key])
		}
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
}

// A journal of another holdout, or none at all, is refused, and not a word of it is shown.
func TestForeignJournals(t *testing.T) {
	h := richHost()
	s := open(small(), mech.NewReleaser(detrand.Noise("foreign", 1)), h)
	for _, q := range script(1, 3) {
		if _, err := s.Ask(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	other := small()
	other.Noise = rat("0.02")
	if _, err := Open(ctx, other, mech.NewReleaser(detrand.Noise("foreign", 1)), h); !errors.Is(err, errJournal) {
		t.Errorf("noise of one scale goes on with another: %v", err)
	}
	entries, _ := h.Entries(ctx)
	sum, training := `{"key":"YQ==","training":"1","answer":"AQAAAAAAAAAD"}`, `{"key":"YQ==","training":"1","answer":"AAAAAAAAAAAA"}`
	for name, lines := range map[string][]string{
		"no JSON":                  {"4711"},
		"an answer before a round": {sum},
		"round 2 first":            {`{"round":2,"secret":"AA=="}`},
		"no noise":                 {`{"round":1,"mechanisms":"` + s.tariff.Mechanisms + `"}`},
		"two rounds at once":       {string(entries[0]), string(entries[0])},
		"two answers to one":       {string(entries[0]), training, sum},
		"two ends of a round":      {string(entries[0]), sum, strings.Replace(sum, "YQ", "Yg", 1)},
		"no answer":                {string(entries[0]), `{"key":"YQ=="}`},
		"no answer but training":   {string(entries[0]), `{"key":"YQ==","training":"1"}`},
		"training that is none":    {string(entries[0]), strings.Replace(training, `:"1"`, `:"x"`, 1)},
		"a kind that is none":      {string(entries[0]), strings.Replace(sum, "AQAA", "AgAA", 1)},
		"a sum that is cut off":    {string(entries[0]), strings.Replace(sum, "AAAD", "", 1)},
	} {
		h := richHost()
		for _, l := range lines {
			if err := h.Append(ctx, []byte(l)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(ctx, small(), mech.NewReleaser(detrand.Noise("foreign", 1)), h); !errors.Is(err, errJournal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Which entry was written, a training value or a sum, does not show in its length.
func TestEntriesAreAsLong(t *testing.T) {
	lengths, kinds := map[int]int{}, map[bool]int{}
	for seed := range uint64(200) {
		h := richHost()
		s := open(small(), mech.NewReleaser(detrand.Noise("length", seed)), h)
		a := must(s.Ask(ctx, ask("key", 60, "0.4")))
		entries, _ := h.Entries(ctx)
		lengths[len(entries[1])]++
		kinds[a.Spent]++
	}
	if len(lengths) != 1 || kinds[true] < 20 || kinds[false] < 20 {
		t.Errorf("%v, %v", lengths, kinds)
	}
}

// The sum is computed when the round is charged and in the journal, and not for what is refused or
// known. Where it fails nothing was compared.
func TestWhenTheHoldoutIsRead(t *testing.T) {
	h := richHost()
	s := open(small(), mech.NewReleaser(detrand.Noise("read", 1)), h)
	reads, broken := 0, errors.New("the file is gone")
	q := Question{Key: "k", Training: rat("0.5"), Holdout: func(context.Context) (mech.Exact, error) {
		reads++
		if entries, _ := h.Entries(ctx); h.Spent() != s.tariff.Round || len(entries) != 1 {
			t.Errorf("read after %d entries and a charge of %v", len(entries), h.Spent())
		}
		if reads == 1 {
			return mech.Exact{}, broken
		}
		return mech.Seal(60), nil
	}}
	bad := q
	bad.Training = rat("2")
	if _, err := s.Ask(ctx, bad); !errors.Is(err, ErrQuestion) || reads != 0 {
		t.Errorf("%v after %d", err, reads)
	}
	if _, err := s.Ask(ctx, q); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	two := q
	two.Holdout = loaderOf(1, 2)
	if _, err := s.Ask(ctx, two); !errors.Is(err, ErrQuestion) {
		t.Errorf("two sums: %v", err)
	}
	if _, err := s.Ask(ctx, q); err != nil || h.Spent() != s.tariff.Round {
		t.Errorf("%v, %v", err, h.Spent())
	}
	if a, err := s.Ask(ctx, q); err != nil || !a.Again || reads != 2 {
		t.Errorf("%v after %d", err, reads)
	}
	none := richHost()
	if s, err := Open(ctx, small(), mech.NewReleaser(detrand.Noise("read", 1)), none); err != nil {
		t.Error(err)
	} else if _, err := s.Ask(ctx, Question{Key: "k", Training: rat("0.5")}); !errors.Is(err, ErrQuestion) || none.Spent() != (dp.Cost{}) {
		t.Errorf("without a sum: %v", err)
	}
}

// What a question would meet is said free.
func TestStatus(t *testing.T) {
	h := richHost()
	s := open(small(), mech.NewReleaser(detrand.Noise("status", 1)), h)
	if st, err := s.Status(ctx, "q0"); err != nil || st != (Status{Left: 5}) || h.Spent() != (dp.Cost{}) {
		t.Errorf("%+v, %v", st, err)
	}
	a := must(s.Ask(ctx, ask("q0", 60, "0.5")))
	if st, err := s.Status(ctx, "q0"); err != nil || !st.Known || st.Open == a.Spent || st.Left != a.Left || st.Receipt != a.Receipt {
		t.Errorf("%+v, %v", st, err)
	}
	if st, err := s.Status(ctx, "q1"); err != nil || st.Known || st.Open == a.Spent {
		t.Errorf("%+v, %v", st, err)
	}
}
