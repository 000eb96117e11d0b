package memory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
)

// Base is an answer to the same question with more noise, which a sharper one can be made of for
// the difference of the two prices (mech.Sharper).
type Base struct {
	Sequence uint64 // the charge that paid for it
	Values   [][]int64
	By       []mech.Sharper // for each measure; nil where its noise stays as it is

	session string
}

// Family names all purchases of one question, at whatever price: who buys one of them for the
// difference to another does it while nobody else buys any.
func Family(b *pricing.Purchase, version string) (string, bool) {
	return sameFamily(b, version), b.Reusable()
}

// Asker says who asks for a base, and about what.
type Asker struct {
	Dataset, Version string
	Window           uint64
	Request          string
	Program          string // what computes; see Keep
}

// FindBase returns the sharpest answer to the question of a purchase that it can be made of, or nil
// where there is none. Nobody else may be buying the same question meanwhile.
//
// What mech.Sharpened rests on is looked at here, and mech.Averaged rests on less: there it is that
// the numbers mean the same. The answer was released with this noise on the
// same data: it is in a slot of this question and version, and the data was of that version still
// when it had been computed. The exact numbers are the same: one program computes both, because
// another one may keep other rows of people who have too many. It is in the same sums: it was
// charged in the same window, and no recovery came since, which may have lost what was charged. And
// nothing else was made of it: whatever is, is noted before it is computed, and a base that has a
// note is none, but for the request that noted it and has no answer yet, which gets no other.
func (m *Memory) FindBase(ctx context.Context, b *pricing.Purchase, who Asker, see Horizon) (*Base, error) {
	if !b.Reusable() || len(b.Twins) > 0 { // twins are paid for together, and a difference is of one sum
		return nil, nil
	}
	family := sameFamily(b, who.Version)
	var best *Base
	for n := range sameSlots {
		s, err := m.find(ctx, slot(family, n))
		if err != nil {
			return nil, err
		}
		if s == nil {
			break
		}
		if n == 0 { // what is from before a recovery is no base, and mostly there is none at all
			if era, err := m.ledger.Era(ctx); err != nil || era != "" {
				return nil, err
			}
		}
		base := s.base(b)
		if base == nil || s.made == "" || s.made != who.Program || m.arrivals.hidesSame(s.sequence, see) {
			continue
		}
		base.session = "sharpened " + who.Dataset + " " + strconv.FormatUint(base.Sequence, 10) + " " + b.Query.Hash()
		ok, own, err := m.unused(ctx, base, who)
		if err != nil {
			return nil, err
		}
		if own {
			return base, nil
		}
		if ok && (best == nil || base.sharper(best)) {
			best = base
		}
	}
	return best, nil
}

// base is how a purchase is made of a source, or nil.
func (s *source) base(b *pricing.Purchase) *Base {
	if len(s.values) != len(b.Noise) || !slices.Equal(s.measures, b.Names()) {
		return nil
	}
	out := &Base{Sequence: s.sequence, Values: s.values}
	less := false
	for i, n := range b.Noise {
		from, to := s.noise[i].Mechanism, n.Mechanism
		if from == nil || to == nil || len(s.values[i]) != b.Query.Groups() {
			return nil
		}
		if same(from, to) {
			out.By = append(out.By, nil)
			continue
		}
		by, err := mech.NewSharper(from, to)
		if err != nil || !by.Holds(s.values[i]) {
			return nil
		}
		less = true
		out.By = append(out.By, by)
	}
	if !less {
		return nil
	}
	return out
}

// same reports whether two noises are one, which is drawn for each number by itself.
func same(a, b mech.Mechanism) bool {
	if _, joint := b.(*mech.Marginal); joint {
		return false
	}
	return a.Name() == b.Name() && a.Cost() == b.Cost() && a.Parameter().Cmp(b.Parameter()) == 0
}

// sharper compares by what is still to be paid.
func (x *Base) sharper(y *Base) bool { return x.left() < y.left() }

func (x *Base) left() (sum float64) {
	for _, by := range x.By {
		if by == nil {
			continue
		}
		if c := by.Cost(); c.Epsilon != dp.Unbounded {
			sum += c.Epsilon.Float()
		} else {
			sum += c.Rho.Float()
		}
	}
	return sum
}

// use is the note of who makes something of a base.
type use struct {
	Charge  uint64 `json:"charge"`
	Request string `json:"request"`
}

// unused reports whether a base was charged in this window, and nothing was made of it yet; own,
// whether it is noted for this request.
func (m *Memory) unused(ctx context.Context, base *Base, who Asker) (ok, own bool, err error) {
	for r, err := range m.ledger.Records(ctx, base.Sequence) {
		if err != nil {
			return false, false, err
		}
		if r.Kind != ledger.KindCharge || r.Window != who.Window || r.Dataset != who.Dataset {
			return false, false, nil
		}
		break
	}
	notes, err := m.ledger.Notes(ctx, base.session)
	if err != nil || len(notes) == 0 {
		return err == nil, false, err
	}
	for _, text := range notes {
		var u use
		if json.Unmarshal(text, &u) != nil || u.Request != who.Request || who.Request == "" {
			return false, false, nil
		}
	}
	return true, true, nil
}

// First is the note that the charge for what is made of a base writes with itself: of two servers
// that both found it unused one is charged, and the other is not.
func (x *Base) First(request string) ledger.First {
	return ledger.First{Session: x.session, Entry: func(charge uint64) []byte { return (use{charge, request}).encode() }}
}

func (u use) encode() []byte {
	text, err := json.Marshal(u)
	if err != nil {
		return nil // a number and a text are always JSON
	}
	return text
}

// Use is for a charge that was made before: it has noted that it makes something of a base, or
// notes it now, and there is an error where something was made of it by another.
func (m *Memory) Use(ctx context.Context, base *Base, charge uint64, request string) error {
	err := m.ledger.NoteIf(ctx, base.session, use{charge, request}.encode(), ledger.After(0))
	if !errors.Is(err, ledger.ErrBehind) {
		return err
	}
	notes, err := m.ledger.Notes(ctx, base.session)
	if err != nil {
		return err
	}
	for _, text := range notes {
		var u use
		if json.Unmarshal(text, &u) != nil || u.Charge != charge {
			return ErrUsed
		}
	}
	return nil
}
