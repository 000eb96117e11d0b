package holdout

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/stat"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/sessiontest"
)

// people are the labels of a holdout, and a question is what somebody predicts for them: a person's
// value is how many of Steps the prediction is right about.
type people []int

// predictions are what an analyst asks about: a value for every label that there could be.
type predictions []int64

func (p people) sum(q predictions) (sum int64) {
	for _, label := range p {
		sum += q[label]
	}
	return sum
}

const labels = 5

// neighbours makes two holdouts that differ in one person: one who is there or not, or who is
// exchanged.
func neighbours(d detrand.Choices, substitute bool) (x, y people) {
	for range 30 + d.Below(10) {
		x = append(x, d.Below(labels))
	}
	at := d.Below(len(x))
	y = append(append(people(nil), x[:at]...), x[at+1:]...)
	if substitute {
		y = append(y, (x[at]+1+d.Below(labels-1))%labels)
	}
	return x, y
}

// readerOf has a sum computed, which somebody is to know of.
func readerOf(sum int64, look func()) func(context.Context) (mech.Exact, error) {
	return func(context.Context) (mech.Exact, error) {
		look()
		return mech.Seal(sum), nil
	}
}

// unsureHost is a journal that fails now and then, before or after it has written.
type unsureHost struct {
	session.Host
	every, n int
}

func (u *unsureHost) Append(ctx context.Context, e []byte) error {
	u.n++
	if u.every > 0 && u.n%u.every == 0 {
		if u.n%(2*u.every) == 0 {
			_ = u.Host.Append(ctx, e)
		}
		return errors.New("the disk is full")
	}
	return u.Host.Append(ctx, e)
}

type runManner struct {
	restart bool // opened again before every question
	every   int  // every so many entries fail
	budget  int  // of so many rounds; 0 is enough for all
}

// watchRun has an analyst ask, who goes on by what was said, and returns what happened. The
// training value is now and then far from the truth, and depends on nothing but the question.
func watchRun(t *testing.T, c Config, seed uint64, how runManner, data people) []sessiontest.Event {
	t.Helper()
	stream := detrand.NewStream("replay", seed)
	r := mech.NewReleaser(entropy.FromReader(stream))
	budget := richHost()
	if how.budget > 0 {
		tariff := must(Price(c))
		budget = session.NewMemory(account.PureFilter(tariff.Round.Epsilon.Mul(uint64(how.budget))))
	}
	w := sessiontest.New(budget, r, stream.Drawn, func(c session.Charge) bool { return strings.HasPrefix(c.Name, "round ") })
	h := &unsureHost{Host: w, every: how.every}
	d := detrand.New("analyst", seed)
	said := ""
	s := open(c, r, h)
	for i := range 25 {
		if how.restart {
			s = open(c, r, h)
		}
		q := make(predictions, labels)
		for k := range q {
			q[k] = int64(d.Below(int(c.Steps) + 1))
		}
		if strings.Contains(said, "spent") {
			q[i%labels] = 0 // what was said decides what is asked
		}
		training := new(big.Rat)
		for _, v := range q {
			training.Add(training, big.NewRat(v, labels*c.Steps))
		}
		if d.One(3) {
			training = big.NewRat(int64(d.Below(101)), 100)
		}
		for range 2 {
			a, err := s.Ask(ctx, Question{Key: fmt.Sprint(i%20, q), Holdout: readerOf(data.sum(q), w.Look), Training: training})
			if err != nil {
				w.Fail(err)
				continue
			}
			said = fmt.Sprint(a.Score.RatString(), a.Cost, a.Left, a.Again, a.Receipt, map[bool]string{true: "spent"}[a.Spent])
			w.Say(said)
			break
		}
	}
	return w.Events()
}

// On neighbouring holdouts with the same randomness a session does the same: the same charges, the
// same entries, the same calls on sums that are at most one person apart, until a comparison or an
// answer makes the difference.
func TestReplayOnNeighbours(t *testing.T) {
	c := small()
	c.Answers = 3
	partings := map[sessiontest.Parting]int{}
	questions, moved := 0, 0
	seeds := make([]uint64, 300)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	for _, seed := range daily.Sample(t, seeds, 100) {
		for _, how := range []runManner{{}, {restart: true}, {every: 3}, {every: 4, restart: true}, {budget: 2}} {
			x, y := neighbours(detrand.New("people", seed), seed%2 == 0)
			a, b := watchRun(t, c, seed, how, x), watchRun(t, c, seed, how, y)
			for _, run := range [][]sessiontest.Event{a, b} {
				if err := sessiontest.Rules(run); err != nil {
					t.Fatalf("seed %d, %+v: %v", seed, how, err)
				}
			}
			v, err := sessiontest.Compare(a, b)
			if err != nil {
				t.Fatalf("seed %d, %+v: %v", seed, how, err)
			}
			partings[v.Parting]++
			questions, moved = questions+v.Questions, moved+v.Moved
		}
	}
	t.Logf("%d questions answered alike, %d calls on sums that differ, runs went apart %v", questions, moved, partings)
	if questions < 1000 || moved < 1000 ||
		partings[sessiontest.ByComparison] < daily.Rounds(5, 50) || partings[sessiontest.ByRelease] < 100 {
		t.Error("too little was seen")
	}
}

// boundLoss bounds from below what a whole session of one round loses on neighbours: three
// questions, of which the first that is contradicted is answered.
func boundLoss(t *testing.T, c Config, ask func(h session.Host, r *mech.Releaser, sums []int64) int64, x, y []int64, n int) stat.Bound {
	t.Helper()
	var drawn [2]stat.Samples
	for i, sums := range [][]int64{x, y} {
		var err error
		drawn[i], err = stat.Draw(ctx, n, func(part int) *noise.Source {
			return entropy.FromReader(detrand.NewStream(fmt.Sprint("loss ", i), uint64(part)))
		}, func(src *noise.Source) func() int64 {
			r := mech.NewReleaser(src)
			return func() int64 { return ask(richHost(), r, sums) }
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return stat.Epsilon(drawn[0], drawn[1], false, 0, 1e-6)
}

// tinyConfig is a holdout of a round of epsilon 2.
func tinyConfig() Config {
	return Config{Size: 10, Steps: 1, Threshold: rat("0.1"), Noise: rat("0.1"), Answers: 1, Currency: mech.Pure}
}

// askWholeSession asks about sums whose training value is 0.5, and numbers what was said.
func askWholeSession(t *testing.T, c Config) func(h session.Host, r *mech.Releaser, sums []int64) int64 {
	tariff, err := Price(c) // once, because it takes longer than all else
	if err != nil {
		t.Fatal(err)
	}
	return func(h session.Host, r *mech.Releaser, sums []int64) int64 {
		s := &Session{h, &sharedState{config: c, tariff: tariff, releaser: r}}
		if err := s.refresh(ctx); err != nil {
			t.Error(err)
			return 0
		}
		n := int64(0)
		for i, sum := range sums {
			a, err := s.Ask(ctx, Question{Key: fmt.Sprint(i), Holdout: readerOf(sum, func() {}), Training: big.NewRat(1, 2)})
			switch {
			case errors.Is(err, ErrUsedUp):
				return n
			case err != nil:
				t.Error(err)
				return 0
			case a.Spent:
				n = n*100 + 2 + new(big.Rat).Mul(a.Score, big.NewRat(10, 1)).Num().Int64()
			default:
				n = n*100 + 1
			}
		}
		return n
	}
}

// A whole session, as a black box, loses no more than it is charged, and not much less.
func TestSessionStatistics(t *testing.T) {
	n := daily.Rounds(30_000, 60_000)
	if testing.Short() {
		n = 16_000
	}
	tariff := must(Price(tinyConfig()))
	b := boundLoss(t, tinyConfig(), askWholeSession(t, tinyConfig()), []int64{5, 5, 7}, []int64{6, 6, 6}, n)
	t.Logf("loses at least %.3f of %v: %s", b.Lower, tariff.Total.Epsilon, b.Detail)
	if b.Lower > tariff.Total.Epsilon.Float() {
		t.Errorf("a session loses at least %v, and is charged %v: %s", b.Lower, tariff.Total.Epsilon, b.Detail)
	}
	if !testing.Short() && b.Lower < tariff.Total.Epsilon.Float()/3 {
		t.Errorf("the neighbours are too mild to say anything: %v", b)
	}
}

// Thresholdout with mistakes in it, as a black box at the price of an honest one.
func TestSessionStatisticsCatch(t *testing.T) {
	n := daily.Rounds(50_000, 120_000)
	c := tinyConfig()
	tariff := must(Price(c))
	claim := tariff.Total.Epsilon.Float()
	type mistakes struct{ reused, endless, noiseless, short bool }
	broken := func(m mistakes) func(h session.Host, r *mech.Releaser, sums []int64) int64 {
		return func(_ session.Host, r *mech.Releaser, sums []int64) (n int64) {
			round := r.OpenAbove(tariff.above)
			secret := round.Secret()
			for _, sum := range sums {
				value := mech.Seal(sum)
				if m.noiseless { // the comparison has no noise of its own
					if max(sum-5, 5-sum) < 2 {
						n = n*100 + 1
						continue
					}
					return n*100 + 2
				}
				if m.short {
					value = mech.Seal(sum * 4)
				}
				above, err := round.AskDistance(value, map[bool]int64{false: 5, true: 20}[m.short], 1)
				if err != nil {
					panic(err)
				}
				if !above {
					n = n*100 + 1
					continue
				}
				score := min(10, max(0, r.Release(mech.Seal(sum), tariff.answer)[0]))
				if m.reused {
					score = min(10, max(0, sum)) // the noise was used up
				}
				n = n*100 + 2 + score
				if !m.endless {
					return n
				}
				if round, err = r.ResumeAbove(tariff.above, secret); err != nil {
					panic(err)
				}
			}
			return n
		}
	}
	x, y := []int64{5, 5, 7}, []int64{6, 6, 6}
	if b := boundLoss(t, c, broken(mistakes{}), x, y, n); b.Lower > claim {
		t.Errorf("the honest parts are caught: %v", b)
	}
	sevens, sixes := []int64{7, 7, 7, 7}, []int64{6, 6, 6, 6}
	for name, b := range map[string]stat.Bound{
		"an answer without noise":           boundLoss(t, c, broken(mistakes{reused: true}), x, y, n),
		"a round that does not end":         boundLoss(t, c, broken(mistakes{endless: true}), sevens, sixes, n),
		"a comparison without noise":        boundLoss(t, c, broken(mistakes{noiseless: true}), []int64{6}, []int64{7}, n),
		"values that weigh four times more": boundLoss(t, c, broken(mistakes{short: true}), []int64{5, 5, 8}, []int64{6, 6, 7}, n),
	} {
		if b.Lower <= claim {
			t.Errorf("%s: not caught: %v", name, b)
		} else {
			t.Logf("%s: loses at least %.3f, claims %v", name, b.Lower, claim)
		}
	}
}
