package learn

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"github.com/discreet-dp/discreet/dp"
)

// amount is an amount of privacy in a document: a decimal number that reads back as the same
// amount, and null for one that is unbounded.
type amount dp.Amount

func (a amount) MarshalJSON() ([]byte, error) {
	if dp.Amount(a) == dp.Unbounded {
		return []byte("null"), nil
	}
	for digits := 1; digits < 20; digits++ {
		text := strconv.FormatFloat(dp.Amount(a).Float(), 'g', digits, 64)
		if back, err := dp.Parse(text); err == nil && back == dp.Amount(a) {
			return []byte(text), nil
		}
	}
	return []byte(dp.Amount(a).Rat().FloatString(40)), nil
}

func (a *amount) UnmarshalJSON(text []byte) error {
	if string(bytes.TrimSpace(text)) == "null" {
		*a = amount(dp.Unbounded)
		return nil
	}
	n, err := dp.Parse(string(bytes.TrimSpace(text)))
	*a = amount(n)
	return err
}

// strictly reads one JSON value and nothing else: no field that is not known, and nothing after it.
func strictly(r io.Reader, into any) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errAfter
	}
	return nil
}

type budgetJSON struct {
	Epsilon amount `json:"epsilon,omitempty"`
	Delta   amount `json:"delta,omitempty"`
	Rho     amount `json:"rho,omitempty"`
}

// MarshalJSON writes amounts exactly.
func (b Budget) MarshalJSON() ([]byte, error) {
	return json.Marshal(budgetJSON{amount(b.Epsilon), amount(b.Delta), amount(b.Rho)})
}

// UnmarshalJSON reads decimal numbers, rounded down to whole units.
func (b *Budget) UnmarshalJSON(text []byte) error {
	var j budgetJSON
	if err := strictly(bytes.NewReader(text), &j); err != nil {
		return err
	}
	*b = Budget{dp.Amount(j.Epsilon), dp.Amount(j.Delta), dp.Amount(j.Rho)}
	return nil
}

type plainSpec Spec

// specJSON has the same fields; the outer one counts.
type specJSON struct {
	plainSpec
	Evaluate amount `json:"evaluate,omitempty"`
}

// MarshalJSON writes amounts exactly.
func (s Spec) MarshalJSON() ([]byte, error) {
	return json.Marshal(specJSON{plainSpec(s), amount(s.Evaluate)})
}

// UnmarshalJSON reads decimal numbers, rounded down to whole units.
func (s *Spec) UnmarshalJSON(text []byte) error {
	var j specJSON
	if err := strictly(bytes.NewReader(text), &j); err != nil {
		return err
	}
	*s = Spec(j.plainSpec)
	s.Evaluate = dp.Amount(j.Evaluate)
	return nil
}
