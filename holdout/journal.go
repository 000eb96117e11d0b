package holdout

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
)

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
func confirmed() []byte { return make([]byte, 9) }

func answered(sum int64) []byte { return binary.BigEndian.AppendUint64([]byte{1}, uint64(sum)) }

// sumOf reads an answer.
func sumOf(answer []byte) (sum int64, spent, ok bool) {
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
	answers  map[string]given
}

// given is an answer that was given.
type given struct {
	score *big.Rat
	spent bool
	round int
}

// recall adds entries to a state. After an error that is nil, because it has some of them.
func (s *Session) recall(st *state, entries [][]byte) (*state, error) {
	for i, text := range entries {
		var e entry
		if json.Unmarshal(text, &e) != nil || !s.add(st, e) {
			return nil, fmt.Errorf("%w (entry %d)", ErrJournal, i+1)
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
	sum, spent, ok := sumOf(e.Answer)
	training, rational := new(big.Rat).SetString(e.Training)
	if !ok || !rational {
		return false
	}
	g := given{score: training, spent: spent, round: len(st.receipts)}
	if spent {
		g.score = s.config.score(sum)
		st.used++
		st.open = nil
	}
	st.answers[string(e.Key)] = g
	return true
}
