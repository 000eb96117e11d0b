package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
)

// Spec is what somebody asks of a training. All of it is public.
type Spec struct {
	Loss      string  `json:"loss,omitempty"`       // "logistic", "huber", "squares"; empty: logistic for classes, squares for numbers
	HalfWidth float64 `json:"half_width,omitempty"` // of huber; 0 means 0.5
	// of squares: beyond it the loss is straight; 0 means 1, which is half of the target's range
	Residual float64 `json:"residual,omitempty"`
	Method   string  `json:"method,omitempty"` // "auto", "output", "objective", "minima"; empty means auto
	// Budget is what the weights may cost.
	Budget Budget `json:"budget"`
	// Evaluate is what an estimate of the accuracy on the training rows may cost, on top: an
	// epsilon, or the rho that it is worth. 0: there is none.
	Evaluate dp.Amount `json:"evaluate,omitempty"`
	// Regulariser is Lambda of the sum, 1/C of other libraries; 0: one is chosen from what is
	// public.
	Regulariser float64 `json:"regulariser,omitempty"`
	// Tune are regularisers to choose from, on the data and paid for: a part of Budget.
	Tune []float64 `json:"tune,omitempty"`
	// Radius is what rows are clipped to; 0: one that follows from the features.
	Radius float64 `json:"radius,omitempty"`
	// Weights are public weights of classes by name; where there are none all are 1.
	Weights map[string]float64 `json:"weights,omitempty"`
	// Rows is about how many rows there are, where that is public. Nothing private depends on it:
	// it is for the choice of a method and for what is said about accuracy.
	Rows int64 `json:"rows,omitempty"`
}

const (
	Auto      = "auto"
	Output    = "output"    // minimise, then add noise to the weights
	Objective = "objective" // add a random linear term, then minimise, exactly
	Minima    = "minima"    // add a random linear term, minimise roughly, then add a little noise to the weights
)

// maxCandidates is how many regularisers there are to choose from at most.
const maxCandidates = 16

// checkName returns the one of some names that a text means, or an error that says which there are
// and which is near.
func checkName(what, text string, names ...string) error {
	if slices.Contains(names, text) {
		return nil
	}
	near := ""
	for _, n := range names {
		if t := strings.ToLower(strings.TrimSpace(text)); t != "" && (strings.HasPrefix(n, t[:1]) || strings.Contains(t, n)) {
			near = fmt.Sprintf("; did you mean %q?", n)
		}
	}
	return fmt.Errorf("%w: there is no %s %q; write one of %s%s", ErrSpec, what, text, strings.Join(names, ", "), near)
}

// checkPositive refuses what is no positive number; 0 stands for a default.
func checkPositive(what string, x float64) error {
	if x == 0 || x >= 0x1p-60 && x <= 0x1p60 {
		return nil
	}
	return fmt.Errorf("%w: the %s must be a positive number from 1e-18 to 1e18, not %v; leave it out to have one chosen", ErrSpec, what, x)
}

// Validate says what is wrong with a spec by itself.
func (s *Spec) Validate() error {
	if s.Loss != "" {
		if err := checkName("loss", s.Loss, "logistic", "huber", "squares"); err != nil {
			return err
		}
	}
	if s.Method != "" {
		if err := checkName("method", s.Method, Auto, Output, Objective, Minima); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		what string
		x    float64
	}{{"half-width", s.HalfWidth}, {"residual", s.Residual}, {"regulariser", s.Regulariser}, {"radius", s.Radius}} {
		if err := checkPositive(n.what, n.x); err != nil {
			return err
		}
	}
	if s.Rows < 0 {
		return fmt.Errorf("%w: there are %d rows", ErrSpec, s.Rows)
	}
	if s.Evaluate == dp.Unbounded {
		return fmt.Errorf("%w: the price of the estimate of the accuracy must be an amount such as 0.1", ErrSpec)
	}
	if err := s.Budget.Validate(); err != nil {
		return err
	}
	return s.validateTune()
}

func (s *Spec) validateTune() error {
	switch n := len(s.Tune); {
	case n == 0:
		return nil
	case n == 1:
		return fmt.Errorf("%w: there is only one regulariser to choose from; write it as the regulariser, or give more", ErrSpec)
	case n > maxCandidates:
		return fmt.Errorf("%w: there are %d regularisers to choose from, and at most %d are allowed: each is trained on a part of the rows",
			ErrSpec, n, maxCandidates)
	case s.Regulariser != 0:
		return fmt.Errorf("%w: a regulariser and others to choose from are given; leave one of the two out", ErrSpec)
	}
	for i, x := range s.Tune {
		if x == 0 || slices.Contains(s.Tune[:i], x) {
			return fmt.Errorf("%w: the regularisers to choose from must be different positive numbers", ErrSpec)
		}
		if err := checkPositive("regulariser", x); err != nil {
			return err
		}
	}
	return nil
}

// Budget is an amount of privacy in one of three currencies: Epsilon alone is pure, Epsilon and
// Delta are approximate, Rho alone is zero-concentrated.
type Budget struct {
	Epsilon dp.Amount `json:"epsilon,omitempty"`
	Delta   dp.Amount `json:"delta,omitempty"`
	Rho     dp.Amount `json:"rho,omitempty"`
}

// Validate refuses what buys nothing.
func (b Budget) Validate() error {
	for _, a := range []dp.Amount{b.Epsilon, b.Delta, b.Rho} {
		if a > 1<<60 {
			return fmt.Errorf("%w: the price is too large to mean anything; ask for an epsilon such as 1", ErrSpec)
		}
	}
	switch {
	case b.Rho != 0 && (b.Epsilon != 0 || b.Delta != 0):
		return fmt.Errorf("%w: the price must be a rho, or an epsilon with or without a delta, not both", ErrSpec)
	case b.Rho == 0 && b.Epsilon == 0:
		return fmt.Errorf("%w: with an epsilon of 0 nothing can be learned; ask for an epsilon such as 1", ErrSpec)
	case b.Delta >= dp.One:
		return fmt.Errorf("%w: a delta must be far below 1; ask for less than one over the number of people", ErrSpec)
	}
	return nil
}

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

// decodeStrictly reads one JSON value and nothing else: no field that is not known, and nothing
// after it.
func decodeStrictly(r io.Reader, into any) error {
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
	if err := decodeStrictly(bytes.NewReader(text), &j); err != nil {
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
	if err := decodeStrictly(bytes.NewReader(text), &j); err != nil {
		return err
	}
	*s = Spec(j.plainSpec)
	s.Evaluate = dp.Amount(j.Evaluate)
	return nil
}
