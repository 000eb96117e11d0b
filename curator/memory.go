package curator

import (
	"encoding/json"
	"errors"

	"github.com/discreet-dp/discreet/policy"
)

// memory is how answers are kept: what was released for each purchase of one charge, and nothing that is made of it. A
// purchase is found by the hash of its query and its noise, so that another statement with the same question inside
// is answered with the same values.
type memory struct {
	Version   int               `json:"version"`
	Purchases map[string]stored `json:"purchases"`
}

const memoryVersion = 2

// stored is a released as it is written.
type stored struct {
	Measures  [][]int64     `json:"measures,omitempty"`
	Quantiles [][][]int64   `json:"quantiles,omitempty"`
	Keys      [][]storedKey `json:"keys,omitempty"`
	Dropped   int           `json:"dropped,omitempty"`
	Chosen    []int         `json:"chosen,omitempty"`
}

// storedKey is a key as it is written: null, a text, a whole number (days for a date), or a truth.
type storedKey struct {
	Text *string `json:"s,omitempty"`
	Int  *int64  `json:"n,omitempty"`
	Day  *int64  `json:"d,omitempty"`
	Bool *bool   `json:"b,omitempty"`
}

var errMemory = errors.New("an answer in the ledger cannot be read; was it written by another version of discreet?")

func encode(buys []*purchase, all []*released) ([]byte, error) {
	m := memory{memoryVersion, map[string]stored{}}
	for i, b := range buys {
		r := all[i]
		s := stored{Measures: r.Measures, Quantiles: r.Quantiles, Dropped: r.Dropped, Chosen: r.Chosen}
		for _, k := range r.Keys {
			s.Keys = append(s.Keys, storedKeys(k))
		}
		m.Purchases[b.hash()] = s
	}
	return json.Marshal(m)
}

// decode finds a purchase in what was kept. What is not of the shape that the question has is not read.
func (b *purchase) decode(text []byte) (*released, error) {
	var m memory
	if err := json.Unmarshal(text, &m); err != nil || m.Version != memoryVersion {
		return nil, errMemory
	}
	s, ok := m.Purchases[b.hash()]
	if !ok {
		return nil, errMemory
	}
	r := &released{Measures: s.Measures, Quantiles: s.Quantiles, Dropped: s.Dropped, Chosen: s.Chosen}
	for _, k := range s.Keys {
		combo := make([]policy.Value, len(k))
		for i, v := range k {
			combo[i] = v.value()
		}
		r.Keys = append(r.Keys, combo)
	}
	if !b.shaped(r) {
		return nil, errMemory
	}
	return r, nil
}

// shaped reports whether a released has the shape of the purchase.
func (b *purchase) shaped(r *released) bool {
	q := b.query
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
