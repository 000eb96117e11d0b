package sessiontest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

var ctx = context.Background()

// bugs are what may be wrong with a session.
type bugs struct {
	endless     bool // a round goes on after its answer, and answers again
	late        bool // it charges when it answers, and not before it compares
	unpaid      bool // the answer of a round is not charged: the second is another
	unwritten   bool // the threshold is written after the comparison
	hasty       bool // an answer is said before it is written
	hopeless    bool // values that are far from the threshold are not compared
	curious     bool // the prediction is made of the value
	careful     bool // a round is charged only where the value is near
	heavy       bool // values weigh twice what the noise is calibrated to
	twice       bool // a question is compared again, to be sure
	careless    bool // a failed journal is known to have been about an answer
	forgetful   bool // it goes on after a failed journal with what it has in memory
	eager       bool // it reads the data before it charges
	shorter     bool // what is below has a shorter entry
	talkative   bool // an error that depends on the value
	unspoken    bool // what is below is not written
	plain       bool // honest: every third question is paid for without a test
	restarts    bool // honest: it is opened again before every question
	interrupted bool // honest: the journal fails now and then, and the question is asked again
}

// mini is a session: is a value far from its prediction, which is 10?
type mini struct {
	bugs
	host   session.Host
	r      *mech.Releaser
	above  *mech.AboveThreshold
	answer *mech.Laplace
	values []int64
	look   func()
	rounds int
	plains int
	round  *mech.AboveRound
	secret []byte
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func entry(kind byte, value int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, uint64(value))
}

func buysRound(c session.Charge) bool { return strings.HasPrefix(c.Name, "round") }

func (m *mini) load() {
	m.rounds, m.plains, m.round = 0, 0, nil
	for _, e := range must(m.host.Entries(ctx)) {
		switch e[0] {
		case 'o':
			m.rounds++
			m.round, m.secret = must(m.r.ResumeAbove(m.above, e[1:])), e[1:]
		case 'f':
			if !m.endless {
				m.round = nil
			}
		case 'p':
			m.plains++
		}
	}
}

func (m *mini) charge(name string) {
	cost := m.answer.Cost()
	if strings.HasPrefix(name, "round") {
		cost = cost.Add(m.above.Cost())
	}
	must(m.host.Charge(ctx, session.Charge{Name: name, Mechanisms: name[:5], Cost: cost}))
}

var errPower = errors.New("the power is gone")

func (m *mini) ask(i int) (string, error) {
	if m.restarts {
		m.load()
	}
	v := m.values[i]
	if m.heavy {
		v *= 2
	}
	value := mech.Seal(v)
	if m.eager {
		m.look()
	}
	if m.plain && i%3 == 2 {
		m.charge(fmt.Sprint("plain ", m.plains+1))
		noisy := m.r.Release(value, m.answer)[0]
		if err := m.host.Append(ctx, entry('p', noisy)); err != nil {
			m.load()
			return "", err
		}
		m.plains++
		return fmt.Sprint("about ", noisy), nil
	}
	if m.talkative && v < 10 {
		return "less than ten", nil
	}
	far := func() bool { return max(v-10, 10-v) > 6 }
	if m.hopeless && far() {
		return "10", m.host.Append(ctx, []byte{'b'})
	}
	if m.round == nil {
		if m.careful && !far() {
			return "10", m.host.Append(ctx, []byte{'b'})
		}
		if !m.late {
			m.charge(fmt.Sprint("round ", m.rounds+1))
		}
		round := m.r.OpenAbove(m.above)
		secret := append([]byte{'o'}, round.Secret()...)
		if !m.unwritten {
			if err := m.host.Append(ctx, secret); err != nil {
				m.load()
				return "", err
			}
		}
		m.round, m.secret = round, secret[1:]
		m.rounds++
	}
	prediction := int64(10)
	if m.curious {
		prediction = v / 2 * 2
	}
	m.look()
	yes, err := m.round.AskDistance(value, prediction, 3)
	if err != nil {
		return "", err
	}
	if m.twice && !yes {
		yes = must(m.round.AskDistance(value, prediction, 3))
	}
	said := entry('b', prediction)
	if m.shorter {
		said = said[:1]
	}
	text := fmt.Sprint(prediction)
	if yes {
		if m.late {
			m.charge(fmt.Sprint("round ", m.rounds))
		}
		noisy := m.r.Release(value, m.answer)[0]
		if m.unpaid {
			noisy = (noisy + m.r.Release(value, m.answer)[0]) / 2
		}
		said, text = entry('f', noisy), fmt.Sprint("about ", noisy)
		m.round = nil
		if m.endless { // as a restart would that does not know that the round is over
			m.round = must(m.r.ResumeAbove(m.above, m.secret))
		}
	}
	if m.hasty || m.unspoken && !yes {
		return text, nil
	}
	if err := m.host.Append(ctx, said); err != nil {
		if !m.forgetful {
			m.load()
		}
		if m.careless && yes {
			return "", errors.New("an answer could not be written")
		}
		return "", err
	}
	return text, nil
}

// failing is a journal that fails at times that do not depend on what is written.
type failing struct {
	session.Host
	n int
}

func (f *failing) Append(ctx context.Context, e []byte) error {
	if f.n++; f.n%4 == 3 {
		return errPower
	}
	return f.Host.Append(ctx, e)
}

// run asks about all values, and returns what happened.
func run(b bugs, seed uint64, values []int64) []Event {
	stream := detrand.NewStream("witness", seed)
	r := mech.NewReleaser(entropy.FromReader(stream))
	one := dp.NewL1(big.NewInt(1))
	w := New(session.NewMemory(account.PureFilter(dp.One*1000)), r, stream.Drawn, buysRound)
	m := &mini{bugs: b, host: w, r: r, values: values, look: w.Look,
		above: must(mech.NewAboveThreshold(mech.AboveThresholdConfig{
			Sensitivity: one, Threshold: dp.One, Question: dp.One, OneSided: true})),
		answer: must(mech.NewLaplace(one, dp.One))}
	if b.interrupted || b.careless || b.forgetful {
		m.host = &failing{Host: w}
	}
	m.load()
	for i := range values {
		for range 3 {
			text, err := m.ask(i)
			if err == nil {
				w.Say(text)
				break
			}
			w.Fail(err)
		}
	}
	return w.Events()
}

// check runs pairs of neighbours and returns the first thing that is wrong, and how often runs went
// apart.
func check(b bugs) (map[Parting]int, error) {
	partings := map[Parting]int{}
	for seed := range uint64(200) {
		d := detrand.New("values", seed)
		var x, y []int64
		for range 12 {
			v := int64(10 + d.Below(9) - 4)
			if d.One(4) {
				v = int64(d.Below(40) - 10)
			}
			x = append(x, v)
			if d.One(2) {
				v += int64(d.Below(3) - 1)
			}
			y = append(y, v)
		}
		a, c := run(b, seed, x), run(b, seed, y)
		for _, r := range [][]Event{a, c} {
			if err := Rules(r); err != nil {
				return partings, err
			}
		}
		v, err := Compare(a, c)
		if err != nil {
			return partings, err
		}
		partings[v.Parting]++
	}
	return partings, nil
}

func TestHonestSessionsPass(t *testing.T) {
	for _, b := range []bugs{{}, {plain: true}, {restarts: true}, {interrupted: true}, {plain: true, interrupted: true},
		{plain: true, restarts: true}} {
		partings, err := check(b)
		if err != nil {
			t.Errorf("%+v: %v", b, err)
		}
		if partings[ByComparison] < 10 || partings[ByRelease] < 10 || partings[Never] == 0 {
			t.Errorf("%+v: runs went apart %v", b, partings)
		}
	}
}

func TestPlantedBugsAreCaught(t *testing.T) {
	for name, b := range map[string]bugs{
		"a round goes on after its answer":              {endless: true},
		"charged after the comparison":                  {late: true},
		"two answers for one":                           {unpaid: true},
		"threshold written after the comparison":        {unwritten: true},
		"said before it is written":                     {hasty: true},
		"below is not written":                          {unspoken: true},
		"values that are far away are not compared":     {hopeless: true},
		"the prediction depends on the value":           {curious: true},
		"charged only where the value is far":           {careful: true},
		"data is read before the charge":                {eager: true},
		"values that weigh twice":                       {heavy: true},
		"an entry's length tells":                       {shorter: true},
		"compared twice":                                {twice: true},
		"an error that depends on the value":            {talkative: true},
		"a failed journal is not read again":            {forgetful: true},
		"a failed journal tells what was to be written": {careless: true},
	} {
		if _, err := check(b); err == nil {
			t.Errorf("%s: not caught", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
