package stream

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
)

// ErrJournal is returned when a journal is not one of this stream.
var ErrJournal = errors.New("the journal does not belong to this stream")

// The first byte of an entry says what it is.
const (
	headEntry    = 'h' // the Config and the prices, in JSON; the first entry and no other
	openedEntry  = 'o' // a round: its number and the secret of its threshold
	firedEntry   = 'f' // the round's answer, which ends it
	plainEntry   = 'p' // a plain answer and its number
	freeEntry    = 'a' // a predicted answer
	learnedEntry = 'l' // an answer that was released elsewhere, and the deviation of its noise
	bonusEntry   = 'm' // a marginal: its number and its counts
	periodEntry  = 'w' // a period of the host's budget began, which ends the open round; see session.Periodic
)

const journalVersion = 1

type journalHead struct {
	Version int
	Config  string // what was declared, as text
	Prices  prices
}

// fingerprint spells a Config. Two streams with the same one are the same.
func (c Config) fingerprint() string {
	type attribute struct {
		Name   string
		Values []string
	}
	var as []attribute
	for _, a := range c.Domain.Attributes() {
		as = append(as, attribute{a.Name, a.Values})
	}
	text, err := json.Marshal(struct {
		Attributes  []attribute
		Size        int64
		Neighbours  string
		Alpha, Beta float64
		Queries     int
		Steps       int64
		Currency    int
		Budget      uint64
		Predictor   Kind
	}{as, c.Size, c.Neighbours.String(), c.Alpha, c.Beta, c.Queries, c.Steps, int(c.Currency), uint64(c.Budget), c.Predictor})
	if err != nil {
		return "" // strings and finite numbers are always JSON
	}
	return hex.EncodeToString(digest(text))
}

func (p prices) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{uint64(p.Cache), uint64(p.Plain), uint64(p.Limit), uint64(p.First), uint64(p.Each), uint64(p.Pay),
		p.Threshold, p.Predictor})
}

func (p *prices) UnmarshalJSON(text []byte) error {
	all := []any{(*uint64)(&p.Cache), (*uint64)(&p.Plain), (*uint64)(&p.Limit), (*uint64)(&p.First), (*uint64)(&p.Each), (*uint64)(&p.Pay),
		&p.Threshold, &p.Predictor}
	return json.Unmarshal(text, &all)
}

// key is a query's name, as a map wants it.
type key [32]byte

func keyOf(q *linear.Query) key { return key([]byte(q.Key())) }

// entry writes one entry.
type entry struct{ b []byte }

func newEntry(kind byte) *entry { return &entry{[]byte{kind}} }

func (e *entry) number(n int64) *entry { e.b = binary.AppendVarint(e.b, n); return e }
func (e *entry) bytes(b []byte) *entry { e.b = append(e.b, b...); return e }
func (e *entry) query(q *linear.Query) *entry {
	fs := q.Factors()
	e.number(int64(len(fs)))
	for _, f := range fs {
		e.number(int64(len(f.Attributes)))
		for _, a := range f.Attributes {
			e.number(int64(a))
		}
		e.number(int64(len(f.Weights)))
		for _, w := range f.Weights {
			e.number(w)
		}
	}
	return e
}

// answer writes a query and an answer to it: its key, which is all that a free answer is read for,
// the answer, in as many bytes whatever it is, and the query.
func (e *entry) answer(q *linear.Query, v int64) *entry {
	e.b = append(e.b, q.Key()...)
	e.b = binary.BigEndian.AppendUint64(e.b, uint64(v))
	return e.query(q)
}

// reader reads one entry. After the first thing that is not there it is bad, and all numbers are 0.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() int64 {
	n, k := binary.Varint(r.b)
	if k <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[k:]
	return n
}

// length reads how many of something follow, each at least one byte long.
func (r *reader) length() int {
	n := r.number()
	if n < 0 || n > int64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}

// answer reads what stands before the query of an answer.
func (r *reader) answer() (k key, v int64) {
	if len(r.b) < len(k)+8 {
		r.bad = true
		return k, 0
	}
	copy(k[:], r.b)
	v = int64(binary.BigEndian.Uint64(r.b[len(k):]))
	r.b = r.b[len(k)+8:]
	return k, v
}

func (r *reader) query(c Config) *linear.Query {
	fs := make([]linear.Factor, r.length())
	for i := range fs {
		fs[i].Attributes = make([]int, r.length())
		for k := range fs[i].Attributes {
			fs[i].Attributes[k] = int(r.number())
		}
		fs[i].Weights = make([]int64, r.length())
		for k := range fs[i].Weights {
			fs[i].Weights[k] = r.number()
		}
	}
	if r.bad {
		return nil
	}
	q, err := c.Domain.Query(c.Steps, fs...)
	if err != nil {
		r.bad = true
		return nil
	}
	return q
}

// replay reads one entry into the state. Entries that would give two things for one charge are
// refused: they come from two processes that wrote to one journal. It is how the state changes
// while a stream is running too: what was appended is replayed, so that a restart cannot differ.
func (s *state) replay(b []byte) error {
	if len(b) == 0 {
		return fmt.Errorf("%w: an entry is empty", ErrJournal)
	}
	r := &reader{b: b[1:]}
	switch b[0] {
	case openedEntry:
		if r.number() != int64(s.rounds+1) || s.tariff.above == nil || s.secret != nil || len(r.b) == 0 {
			r.bad = true
			break
		}
		s.rounds++
		s.spent = s.spent.Add(s.tariff.Round)
		s.secret = bytes.Clone(r.b)
		r.b = nil
		s.settle()
	case firedEntry, plainEntry:
		if b[0] == firedEntry && s.secret == nil {
			r.bad = true
			break
		}
		k, value := r.answer()
		q := r.query(s.config)
		if r.bad || keyOf(q) != k || b[0] == plainEntry && r.number() != int64(s.plains+1) {
			r.bad = true
			break
		}
		s.answers[k] = max(0, value)
		if b[0] == plainEntry {
			s.plains++
			s.count.Plain++
			s.spent = s.spent.Add(s.tariff.Plain)
			s.teachLater(predict.Released{Query: q, Answer: value, Scale: deviation(s.tariff.plain)})
			break
		}
		s.secret = nil
		s.count.Paid++
		s.bonusPlan.add(q.Attributes())
		s.teach(predict.Released{Query: q, Answer: value, Scale: deviation(s.tariff.paid)})
	case freeEntry:
		k, value := r.answer()
		if r.bad {
			break
		}
		s.answers[k] = value
		r.b = nil // the query is for people
		s.count.Predicted++
	case learnedEntry:
		_, value := r.answer()
		q, scale := r.query(s.config), math.Float64frombits(uint64(r.number()))
		if !r.bad {
			s.teach(predict.Released{Query: q, Answer: value, Scale: scale})
		}
	case periodEntry:
		n := r.number()
		if r.bad = r.bad || n <= int64(s.period); !r.bad {
			s.period, s.secret = uint64(n), nil
		}
	case bonusEntry:
		r.bad = !s.replayBonus(r)
	default:
		r.bad = true
	}
	if r.bad || len(r.b) > 0 {
		return fmt.Errorf("%w: an entry cannot be read", ErrJournal)
	}
	return nil
}

func readHead(c Config, b []byte) (*Tariff, error) {
	var h journalHead
	if len(b) == 0 || b[0] != headEntry || json.Unmarshal(b[1:], &h) != nil {
		return nil, fmt.Errorf("%w: its first entry cannot be read", ErrJournal)
	}
	if h.Version != journalVersion {
		return nil, fmt.Errorf("%w: it has version %d, and this program reads %d", ErrJournal, h.Version, journalVersion)
	}
	if h.Config != c.fingerprint() {
		return nil, fmt.Errorf("%w: it was opened with another configuration; open it with the same one, or another stream", ErrJournal)
	}
	return h.Prices.tariff(c)
}

func writeHead(c Config, p prices) ([]byte, error) {
	text, err := json.Marshal(journalHead{journalVersion, c.fingerprint(), p})
	return append([]byte{headEntry}, text...), err
}
