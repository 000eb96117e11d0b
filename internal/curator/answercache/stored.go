package answercache

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner/cells"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/policy"
)

// memory is how answers are kept: what was released for each purchase of one charge, and nothing
// that is made of it. A purchase is found by the hash of its query and its noise, so that another
// statement with the same question inside is answered with the same values.
type memory struct {
	Version   int               `json:"version"`
	Purchases map[string]stored `json:"purchases"`
	// Kept is when, in microseconds since 1970, for servers that did not see it; see arrivals.
	Kept int64 `json:"kept,omitempty"`
	// Moved says that the data changed while it was computed, so that it is found by its request
	// alone.
	Moved bool `json:"moved,omitempty"`
}

const memoryVersion = 3

// stored is a released as it is written.
type stored struct {
	Measures  [][]int64     `json:"measures,omitempty"`
	Quantiles [][][]int64   `json:"quantiles,omitempty"`
	Off       []int64       `json:"off,omitempty"`
	Keys      [][]storedKey `json:"keys,omitempty"`
	Dropped   int           `json:"dropped,omitempty"`
	Chosen    []int         `json:"chosen,omitempty"`
	// What other questions need to know to be answered from this one: under which names they find
	// it, what the measures are and their noise, and what the groups are. All of it follows from
	// the question.
	Places []string      `json:"places,omitempty"`
	Names  []string      `json:"names,omitempty"`
	Noise  []storedNoise `json:"noise,omitempty"`
	Cells  []storedCells `json:"cells"`
	Made   string        `json:"made,omitempty"` // what computed it, where it is of this data for sure
	// Of what was made of another purchase's values: the charge of that, and how many of them are
	// in each group. The noise is theirs.
	Derived uint64 `json:"derived,omitempty"`
	Counts  []int  `json:"counts,omitempty"`
}

// storedCells is a key of the groups.
type storedCells struct {
	Name     string      `json:"name"`
	Values   []storedKey `json:"values"`
	Whole    bool        `json:"whole,omitempty"`
	Complete bool        `json:"complete,omitempty"`
}

// storedKey is a key as it is written: null, a text, a whole number (days for a date), or a truth.
type storedKey struct {
	Text *string `json:"s,omitempty"`
	Int  *int64  `json:"n,omitempty"`
	Day  *int64  `json:"d,omitempty"`
	Bool *bool   `json:"b,omitempty"`
}

var ErrUnreadable = errors.New("an answer in the ledger cannot be read; was it written by another version of discreet?")

// ErrUsed says that something was made of an answer that can be sharpened once.
var ErrUsed = errors.New("a sharper answer was made from this one before")

// encode writes what was released for purchases, and where each is found by others.
func encode(buys []*pricing.Purchase, all []*answers.Released, places [][]string, made string, moved bool) ([]byte, error) {
	m := memory{memoryVersion, map[string]stored{}, time.Now().UnixMicro(), moved}
	for i, b := range buys {
		r := all[i]
		s := stored{Measures: r.Measures, Quantiles: r.Quantiles, Dropped: r.Dropped, Chosen: r.Chosen, Off: r.Off}
		for _, k := range r.Keys {
			s.Keys = append(s.Keys, storedKeys(k))
		}
		if s.Derived, s.Counts = r.Derived, r.Cells; r.Derived != 0 {
			for _, n := range r.Noise {
				s.Noise = append(s.Noise, storedNoiseOf(n, 0))
			}
		} else if len(places[i]) > 0 {
			s.Places, s.Made = places[i], made
			for k, measure := range b.Query.Measures {
				s.Names, s.Noise = append(s.Names, measure.Name()), append(s.Noise, storedNoiseOf(b.Noise[k], r.OffBy(k)))
			}
			if _, cells, ok := cellKeys(b); ok {
				s.Cells = cells
			}
		}
		m.Purchases[b.Hash()] = s
	}
	return json.Marshal(m)
}

// cellKeys are the keys of the groups as they are written, where others can be made of the groups.
func cellKeys(b *pricing.Purchase) (family string, stored []storedCells, ok bool) {
	family, keys, ok := cells.Family(meter.Part(context.Background(), recallWorkPart), b.Query)
	if !ok {
		return "", nil, false
	}
	stored = []storedCells{}
	for _, k := range keys {
		stored = append(stored, storedCells{k.Name, storedKeys(k.Values), k.Whole, k.Complete})
	}
	text, err := json.Marshal(stored)
	return family, stored, err == nil && len(text) <= maxCellText
}

// decodeSource finds what is in a place.
func decodeSource(text []byte, place string) (*keptSource, error) {
	var m memory
	if err := json.Unmarshal(text, &m); err != nil || m.Version != memoryVersion {
		return nil, ErrUnreadable
	}
	for _, s := range m.Purchases {
		if !slices.Contains(s.Places, place) {
			continue
		}
		out := &keptSource{measures: s.Names, values: s.Measures, made: s.Made, kept: time.UnixMicro(m.Kept)}
		if len(s.Names) != len(s.Measures) || len(s.Noise) != len(s.Names) {
			return nil, ErrUnreadable
		}
		for _, n := range s.Noise {
			made, err := n.noise()
			if err != nil {
				return nil, ErrUnreadable
			}
			out.noise = append(out.noise, made)
		}
		groups := 1
		if s.Cells != nil {
			out.cells = []cells.Key{}
		}
		for _, k := range s.Cells {
			out.cells = append(out.cells, cells.Key{Name: k.Name, Values: values(k.Values), Whole: k.Whole, Complete: k.Complete})
			groups *= len(k.Values)
		}
		for _, v := range s.Measures {
			if s.Cells != nil && len(v) != groups {
				return nil, ErrUnreadable
			}
		}
		return out, nil
	}
	return nil, ErrUnreadable
}

func values(keys []storedKey) []policy.Value {
	out := make([]policy.Value, len(keys))
	for i, k := range keys {
		out[i] = k.value()
	}
	return out
}

// decode finds a purchase in what was kept. What is not of the shape that the question has is not
// read.
func decode(b *pricing.Purchase, text []byte) (*answers.Released, *memory, error) {
	var m memory
	if err := json.Unmarshal(text, &m); err != nil || m.Version != memoryVersion {
		return nil, nil, ErrUnreadable
	}
	s, ok := m.Purchases[b.Hash()]
	if !ok {
		return nil, nil, ErrUnreadable
	}
	r := &answers.Released{Measures: s.Measures, Quantiles: s.Quantiles, Dropped: s.Dropped, Chosen: s.Chosen, Off: s.Off}
	for _, k := range s.Keys {
		r.Keys = append(r.Keys, values(k))
	}
	if s.Derived != 0 {
		r.Derived, r.Cells = s.Derived, s.Counts
		for _, n := range s.Noise {
			made, err := n.noise()
			if err != nil {
				return nil, nil, err
			}
			r.Noise = append(r.Noise, made)
		}
	}
	if !shaped(b, r) {
		return nil, nil, ErrUnreadable
	}
	return r, &m, nil
}

// shaped reports whether a released has the shape of the purchase.
func shaped(b *pricing.Purchase, r *answers.Released) bool {
	q := b.Query
	if q.Choice != nil {
		ok := len(r.Chosen) == q.Choice.K
		seen := map[int]bool{}
		for _, g := range r.Chosen {
			ok = ok && g >= 0 && g < q.Groups() && !seen[g]
			seen[g] = true
		}
		return ok
	}
	rows := q.Groups()
	if private := len(q.PrivateKeys()); private > 0 {
		rows *= len(r.Keys)
		for _, k := range r.Keys {
			if len(k) != private {
				return false
			}
		}
	} else if len(r.Keys) > 0 {
		return false
	}
	if len(r.Measures) != len(q.Measures) || len(r.Quantiles) != len(q.Measures) {
		return false
	}
	if r.Off != nil && len(r.Off) != len(q.Measures) || r.Derived != 0 && (len(r.Noise) != len(q.Measures) || len(r.Cells) != rows) {
		return false
	}
	for i, m := range q.Measures {
		if len(m.At) == 0 {
			if len(r.Measures[i]) != rows {
				return false
			}
			continue
		}
		if len(r.Quantiles[i]) != rows {
			return false
		}
		for _, values := range r.Quantiles[i] {
			if len(values) != len(m.At) {
				return false
			}
		}
	}
	return true
}

func storedKeys(keys []policy.Value) []storedKey {
	out := make([]storedKey, len(keys))
	for i, k := range keys {
		switch {
		case k.Null:
		case k.Type == policy.Text:
			out[i].Text = &k.Text
		case k.Type == policy.Boolean:
			b := k.Bool()
			out[i].Bool = &b
		case k.Type == policy.Date:
			out[i].Day = &k.Int
		default:
			out[i].Int = &k.Int
		}
	}
	return out
}

func (k storedKey) value() policy.Value {
	switch {
	case k.Text != nil:
		return policy.Value{Type: policy.Text, Text: *k.Text}
	case k.Bool != nil:
		v := policy.Value{Type: policy.Boolean}
		if *k.Bool {
			v.Int = 1
		}
		return v
	case k.Day != nil:
		return policy.Value{Type: policy.Date, Int: *k.Day}
	case k.Int != nil:
		return policy.Value{Type: policy.Integer, Int: *k.Int}
	}
	return policy.Value{Null: true}
}

// KeyBytes is what a combination of keys takes in the ledger.
func KeyBytes(keys []policy.Value) int {
	text, err := json.Marshal(storedKeys(keys))
	if err != nil {
		return pricing.MaxBytes // it is left out
	}
	return len(text) + 1
}
