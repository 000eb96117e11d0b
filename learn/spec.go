package learn

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/learn/lossfn"
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

// Group says whom a training protects.
type Group struct {
	Neighbours dp.Neighbours
	MaxRows    int // how many rows of one person count; 1 where everybody has one
}

// What a Spec means where it says nothing.
const (
	defaultHalfWidth = 0.5
	defaultResidual  = 1
	maxCandidates    = 16
)

// named returns the one of some names that a text means, or an error that says which there are and
// which is near.
func named(what, text string, names ...string) error {
	if slices.Contains(names, text) {
		return nil
	}
	near := ""
	for _, n := range names {
		if t := strings.ToLower(strings.TrimSpace(text)); t != "" && (strings.HasPrefix(n, t[:1]) || strings.Contains(t, n)) {
			near = fmt.Sprintf("; did you mean %q?", n)
		}
	}
	return fmt.Errorf("%w: there is no %s %q, but %s%s", ErrSpec, what, text, strings.Join(names, ", "), near)
}

// number refuses what is no positive number; 0 stands for a default.
func number(what string, x float64) error {
	if x == 0 || x >= 0x1p-60 && x <= 0x1p60 {
		return nil
	}
	return fmt.Errorf("%w: the %s is a positive number from 1e-18 to 1e18, and not %v; leave it out and one is chosen", ErrSpec, what, x)
}

// Validate says what is wrong with a spec by itself.
func (s *Spec) Validate() error {
	if s.Loss != "" {
		if err := named("loss", s.Loss, "logistic", "huber", "squares"); err != nil {
			return err
		}
	}
	if s.Method != "" {
		if err := named("method", s.Method, Auto, Output, Objective, Minima); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		what string
		x    float64
	}{{"half-width", s.HalfWidth}, {"residual", s.Residual}, {"regulariser", s.Regulariser}, {"radius", s.Radius}} {
		if err := number(n.what, n.x); err != nil {
			return err
		}
	}
	if s.Rows < 0 {
		return fmt.Errorf("%w: there are %d rows", ErrSpec, s.Rows)
	}
	if s.Evaluate == dp.Unbounded {
		return fmt.Errorf("%w: what the estimate of the accuracy costs is an amount such as 0.1", ErrSpec)
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
		return fmt.Errorf("%w: there is one regulariser to choose from; write it as the regulariser, or give more", ErrSpec)
	case n > maxCandidates:
		return fmt.Errorf("%w: there are %d regularisers to choose from, and %d are the most: each is trained on a part of the rows",
			ErrSpec, n, maxCandidates)
	case s.Regulariser != 0:
		return fmt.Errorf("%w: a regulariser is given and others to choose from; leave one of the two out", ErrSpec)
	}
	for i, x := range s.Tune {
		if x == 0 || slices.Contains(s.Tune[:i], x) {
			return fmt.Errorf("%w: the regularisers to choose from are different positive numbers", ErrSpec)
		}
		if err := number("regulariser", x); err != nil {
			return err
		}
	}
	return nil
}

// loss is what is minimised: by its name, or by the target's kind.
func (s *Spec) loss(target *Column) (lossfn.Loss, error) {
	name := s.Loss
	switch {
	case name == "" && target.Categorical():
		name = "logistic"
	case name == "":
		name = "squares"
	case name == "squares" && target.Categorical():
		return lossfn.Loss{}, fmt.Errorf("%w: squares are for numbers, and %q has classes; take logistic or huber", ErrSpec, target.Name)
	case name != "squares" && !target.Categorical():
		return lossfn.Loss{},
			fmt.Errorf("%w: %s is for classes, and %q is a number; take squares, or a condition such as %s > 0 as the target", ErrSpec,
				name, target.Name, target.Name)
	}
	if s.HalfWidth != 0 && name != "huber" {
		return lossfn.Loss{}, fmt.Errorf("%w: a half-width is for huber, and the loss is %s", ErrSpec, name)
	}
	if s.Residual != 0 && name != "squares" {
		return lossfn.Loss{}, fmt.Errorf("%w: a residual is for squares, and the loss is %s", ErrSpec, name)
	}
	switch name {
	case "huber":
		return lossfn.Huber(or(s.HalfWidth, defaultHalfWidth))
	case "squares":
		return lossfn.Squares(or(s.Residual, defaultResidual))
	}
	return lossfn.Logistic(), nil
}

// classWeights are the public weights of the classes in their order, the largest 1; nil where all
// are.
func (s *Spec) classWeights(target *Column) ([]float64, error) {
	if len(s.Weights) == 0 {
		return nil, nil
	}
	if !target.Categorical() {
		return nil, fmt.Errorf("%w: weights are for classes, and %q is a number", ErrSpec, target.Name)
	}
	names := make([]string, 0, len(s.Weights))
	for name := range s.Weights {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !slices.Contains(target.Values, name) {
			return nil, fmt.Errorf("%w: there is a weight for %q, and the classes of %q are %s", ErrSpec, name, target.Name,
				strings.Join(target.Values, ", "))
		}
		if w := s.Weights[name]; !(w >= 0x1p-20 && w <= 0x1p20) {
			return nil, fmt.Errorf("%w: the weight of %q is a positive number, and not %v; leave rows out with WHERE", ErrSpec, name, w)
		}
	}
	out, largest := make([]float64, len(target.Values)), 0.0
	for i, v := range target.Values {
		out[i] = 1
		if w, ok := s.Weights[v]; ok {
			out[i] = w
		}
		largest = math.Max(largest, out[i])
	}
	for i := range out {
		out[i] /= largest // at most 1, because a quotient is rounded to nearest and 1 is a number
	}
	return out, nil
}

func or(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}
