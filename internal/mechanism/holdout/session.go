package holdout

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"sync"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

// Session is an open holdout. It is safe for concurrent use. A journal has one session at a time.
type Session struct {
	host session.Host
	*sharedState
}

// sharedState is what is one for a session, however many pay for it; see [Session.WithHost].
type sharedState struct {
	config   Config
	tariff   *Tariff
	releaser *mech.Releaser

	mu sync.Mutex
	// state is nil where the journal may have what we have not: an entry that could not be written
	// may yet have been.
	state *state
	read  int // entries of the journal that are in the state
	last  int // what was left when the state was last known
}

// Open opens a holdout on a host, or goes on with the one that its journal has. Nothing is charged
// before the first question.
func Open(ctx context.Context, c Config, r *mech.Releaser, h session.Host) (*Session, error) {
	tariff, err := Price(c)
	if err != nil {
		return nil, err
	}
	// What is public and ours must not change under us.
	c.Threshold, c.Noise = new(big.Rat).Set(c.Threshold), new(big.Rat).Set(c.Noise)
	s := &Session{h, &sharedState{config: c, tariff: tariff, releaser: r}}
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// WithHost returns the same session for somebody else who pays: on a host with the same journal,
// whose charges are theirs.
func (s *Session) WithHost(h session.Host) *Session { return &Session{h, s.sharedState} }

// refresh reads the journal where that is needed, and what others have written to it since.
func (s *Session) refresh(ctx context.Context) error {
	if s.state == nil {
		entries, err := s.host.Entries(ctx)
		if err != nil {
			return err
		}
		if s.state, err = s.recall(&state{answers: map[string]givenAnswer{}}, entries); err != nil {
			return err
		}
		s.read, s.last = len(entries), s.left()
		return nil
	}
	more, err := session.EntriesAfter(ctx, s.host, s.read)
	if err != nil || len(more) == 0 {
		return err
	}
	if s.state, err = s.recall(s.state, more); err != nil {
		return err
	}
	s.read, s.last = s.read+len(more), s.left()
	return nil
}

func (s *Session) Tariff() Tariff { return *s.tariff }

// Left is how many answers from the holdout are to come.
func (s *Session) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *Session) left() int { return max(0, s.config.Answers-s.state.used) }

// Ask answers. A question that was answered before is answered in the same words, free, also when
// the holdout is used up. No error depends on the data.
func (s *Session) Ask(ctx context.Context, q Question) (*Answer, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	charged := uint64(0) // rounds, also by tries in which somebody else was first
	for try := 1; ; try++ {
		a, err := s.ask(ctx, q, &charged)
		if !errors.Is(err, session.ErrBehind) || try == session.MaxTries {
			return a, err
		}
	}
}

func (s *Session) ask(ctx context.Context, q Question, charged *uint64) (*Answer, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	if _, ok := s.state.answers[q.Key]; ok {
		a := s.answer(q.Key)
		a.Again, a.Receipt.Again = true, true
		return a, nil
	}
	if s.left() == 0 {
		return nil, ErrUsedUp
	}
	// A round that was paid for in another period is not paid for in this one.
	if now, err := session.PeriodOf(ctx, s.host); err != nil {
		return nil, err
	} else if now > s.state.period {
		if err := s.appendEntry(ctx, entry{Period: now}); err != nil {
			return nil, err
		}
	}
	if err := s.round(ctx, charged); err != nil {
		return nil, err
	}
	e, err := s.compare(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := s.appendEntry(ctx, e); err != nil {
		return nil, err
	}
	a := s.answer(q.Key)
	a.Cost = s.tariff.Round.Mul(*charged)
	return a, nil
}

// round sees to it that a round is open: charged, its threshold's noise drawn and in the journal.
// It counts where it was charged now.
func (s *Session) round(ctx context.Context, charged *uint64) error {
	if s.state.open != nil {
		return nil
	}
	number := len(s.state.receipts) + 1
	receipt, err := s.host.Charge(ctx,
		session.Charge{Name: fmt.Sprintf("round %d", number), Mechanisms: s.tariff.Mechanisms, Cost: s.tariff.Round})
	if err != nil {
		return err
	}
	if !receipt.Again {
		*charged++
	}
	// Where the charge had been made before, nothing was compared: then the noise would be in the
	// journal. So it may be drawn again.
	e := entry{Round: number, Secret: s.releaser.OpenAbove(s.tariff.above).Secret(), Mechanisms: s.tariff.Mechanisms,
		Sequence: receipt.Sequence, Hash: receipt.Hash}
	return s.appendEntry(ctx, e)
}

// compare asks the open round, and draws the answer from the holdout where that is the answer.
// Nobody sees it before it is written.
func (s *Session) compare(ctx context.Context, q Question) (entry, error) {
	sum, err := q.Holdout(ctx)
	if err != nil {
		return entry{}, err
	}
	if sum.Len() != 1 {
		return entry{}, fmt.Errorf("%w: it has one sum over the holdout, not %d", ErrQuestion, sum.Len())
	}
	above, err := s.state.open.AskDistance(sum, s.config.onLattice(q.Training), s.config.onLattice(s.config.Threshold))
	if err != nil {
		return entry{}, err
	}
	e := entry{Key: []byte(q.Key), Training: q.Training.RatString(), Answer: encodeConfirmed()}
	if above {
		e.Answer = encodeAnswered(s.releaser.Release(sum, s.tariff.answer)[0])
	}
	return e, nil
}

// appendEntry writes an entry and adds it to the state. Where it cannot tell whether it was
// written, the journal is read again before the next question: what is there then counts, and what
// is not there was seen by nobody.
func (s *Session) appendEntry(ctx context.Context, e entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := session.AppendAfter(ctx, s.host, s.read, text); err != nil {
		s.state = nil
		return err
	}
	s.read++
	if !s.add(s.state, e) {
		s.state = nil
		return errJournal
	}
	s.last = s.left()
	return nil
}

// answer is the answer to a key that has one.
func (s *Session) answer(key string) *Answer {
	g := s.state.answers[key]
	return &Answer{Score: new(big.Rat).Set(g.score), Spent: g.spent, Left: s.left(), Receipt: s.state.receipts[g.round-1]}
}

// Status is what can be said before a question is asked. It follows from what was released.
type Status struct {
	// Known says that the question was answered before, and is free.
	Known bool
	// Open says that a round is open, so that a new question is charged nothing.
	Open bool
	Left int
	// Told is how many different questions were answered. All of them are in the journal.
	Told int
	// Receipt is that of the round that the answer belongs to, where it is known.
	Receipt session.Receipt
}

// Status says what a question with a key would meet. It charges nothing and compares nothing.
func (s *Session) Status(ctx context.Context, key string) (Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return Status{}, err
	}
	period, err := session.PeriodOf(ctx, s.host)
	if err != nil {
		return Status{}, err
	}
	out := Status{Open: s.state.open != nil && period <= s.state.period, Left: s.left(), Told: len(s.state.answers)}
	if g, known := s.state.answers[key]; known {
		out.Known, out.Receipt = true, s.state.receipts[g.round-1]
	}
	return out, nil
}

// entry is one line of the journal: a round that was opened, or an answer. The noise of an open
// round is in it, so whoever reads the journal knows more than the answers.
type entry struct {
	// A period of the host's budget that began, which ends the open round; see session.Periodic.
	Period uint64 `json:"period,omitempty"`
	// A round.
	Round      int    `json:"round,omitempty"` // from 1
	Secret     []byte `json:"secret,omitempty"`
	Mechanisms string `json:"mechanisms,omitempty"`
	Sequence   uint64 `json:"sequence,omitempty"`
	Hash       string `json:"hash,omitempty"`
	// An answer in the last round. A key is bytes, which JSON strings are not.
	Key      []byte `json:"key,omitempty"`
	Training string `json:"training,omitempty"`
	Answer   []byte `json:"answer,omitempty"`
}

// An answer is nine bytes: 0 and zeros where the training value was confirmed, and 1 and a sum with
// noise, which ends the round. Both are as long, and so are their entries: a disk that is full to
// the byte, or somebody who watches a file grow, does not tell which it was.
func encodeConfirmed() []byte { return make([]byte, 9) }

func encodeAnswered(sum int64) []byte { return binary.BigEndian.AppendUint64([]byte{1}, uint64(sum)) }

func decodeAnswer(answer []byte) (sum int64, spent, ok bool) {
	if len(answer) != 9 || answer[0] > 1 {
		return 0, false, false
	}
	return int64(binary.BigEndian.Uint64(answer[1:])), answer[0] == 1, true
}

// state is all that a session knows. It is a function of the journal.
type state struct {
	receipts []session.Receipt // of the rounds
	used     int               // answers from the holdout
	period   uint64            // of the host's budget
	open     *mech.AboveRound  // nil where the next question opens a round
	answers  map[string]givenAnswer
}

type givenAnswer struct {
	score *big.Rat
	spent bool
	round int
}

// recall adds entries to a state. After an error that is nil, because it has some of them.
func (s *Session) recall(st *state, entries [][]byte) (*state, error) {
	for i, text := range entries {
		var e entry
		if json.Unmarshal(text, &e) != nil || !s.add(st, e) {
			return nil, fmt.Errorf("%w (entry %d)", errJournal, i+1)
		}
	}
	return st, nil
}

// add adds an entry to the state, and reports whether it can follow what is there.
func (s *Session) add(st *state, e entry) bool {
	if e.Period != 0 {
		if e.Period <= st.period || e.Round != 0 || e.Key != nil {
			return false
		}
		st.period, st.open = e.Period, nil
		return true
	}
	if e.Round != 0 {
		if e.Key != nil || e.Answer != nil || e.Training != "" || e.Round != len(st.receipts)+1 || st.open != nil ||
			e.Mechanisms != s.tariff.Mechanisms {
			return false
		}
		round, err := s.releaser.ResumeAbove(s.tariff.above, e.Secret)
		if err != nil {
			return false
		}
		st.open = round
		st.receipts = append(st.receipts, session.Receipt{Sequence: e.Sequence, Hash: e.Hash})
		return true
	}
	if _, twice := st.answers[string(e.Key)]; twice || len(e.Key) == 0 || st.open == nil {
		return false
	}
	sum, spent, ok := decodeAnswer(e.Answer)
	training, rational := new(big.Rat).SetString(e.Training)
	if !ok || !rational {
		return false
	}
	g := givenAnswer{score: training, spent: spent, round: len(st.receipts)}
	if spent {
		g.score = s.config.score(sum)
		st.used++
		st.open = nil
	}
	st.answers[string(e.Key)] = g
	return true
}
