package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
)

// Encoding says how the columns of a row become features, from what is public alone. A row is one
// whole number for each column (Null where there is none): how many steps, or which of the values.
type Encoding struct {
	Features []Column `json:"features"`
	Target   Column   `json:"target"`
}

// Column is a number with public bounds, or one of some public values.
type Column struct {
	Name string `json:"name"`
	// Values are what the column can be, for classes and categories; the code of a row is the place
	// of its value, and -1 for any other. Nil for numbers.
	Values []string `json:"values,omitempty"`
	// Lo and Hi are the bounds of a number, in steps of Step.
	Lo   int64    `json:"lo,omitempty"`
	Hi   int64    `json:"hi,omitempty"`
	Step *big.Rat `json:"step,omitempty"`
	// Kind is "date" where the steps of a number are days since 1970-01-01, so that a prediction
	// can be asked for with a date. Otherwise it is empty.
	Kind string `json:"kind,omitempty"`
}

// Null is the code of a value that is missing. A missing number is the middle of its bounds and a
// missing category is none of its values; a row without a target is left out.
const Null = -1 << 63

// Categorical reports whether the column has values, and is no number.
func (c *Column) Categorical() bool { return len(c.Values) > 0 }

// width is how many features a column becomes.
func (c *Column) width() int {
	if c.Categorical() {
		return len(c.Values)
	}
	return 1
}

// Scaled brings a number of steps from the bounds to [-1, 1]. It is total: what is beyond the
// bounds is at the bound, and what is missing in the middle.
func (c *Column) Scaled(code int64) float64 {
	if code == Null {
		return 0
	}
	return c.position(float64(code))
}

// position is Scaled for a number of steps that need not be whole.
func (c *Column) position(steps float64) float64 {
	middle, half := c.Middle(), c.Half()
	return math.Max(-1, math.Min(1, (steps-middle)/half))
}

// Middle and Half are those of the bounds, in steps.
func (c *Column) Middle() float64 { return float64(c.Lo)/2 + float64(c.Hi)/2 }
func (c *Column) Half() float64   { return float64(c.Hi)/2 - float64(c.Lo)/2 }

// Unit is the size of a step.
func (c *Column) Unit() float64 {
	f, _ := c.Step.Float64()
	return f
}

// Clone returns a copy that shares nothing.
func (e *Encoding) Clone() *Encoding {
	out := &Encoding{Features: slices.Clone(e.Features), Target: e.Target}
	for i := range out.Features {
		out.Features[i] = out.Features[i].Clone()
	}
	out.Target = out.Target.Clone()
	return out
}

func (c Column) Clone() Column {
	c.Values = slices.Clone(c.Values)
	if c.Step != nil {
		c.Step = new(big.Rat).Set(c.Step)
	}
	return c
}

// Dim is how many weights a model has: one for each number and each value, and the intercept.
func (e *Encoding) Dim() int {
	d := 1
	for i := range e.Features {
		d += e.Features[i].width()
	}
	return d
}

// Classes is how many classes the target has; 0 for a number.
func (e *Encoding) Classes() int { return len(e.Target.Values) }

// Models is how many models are trained: one, or one for each of more than two classes.
func (e *Encoding) Models() int {
	if e.Classes() > 2 {
		return e.Classes()
	}
	return 1
}

// Encode writes what a row's codes become: every number, or a 1 in the place of its value, and at
// the end the 1 of the intercept, which is clipped with the others. It is total.
func (e *Encoding) Encode(codes []int64, x []float64) {
	clear(x)
	at := 0
	for i := range e.Features {
		c := &e.Features[i]
		switch code := codes[i]; {
		case !c.Categorical():
			x[at] = c.Scaled(code)
		case code >= 0 && code < int64(len(c.Values)):
			x[at+int(code)] = 1
		}
		at += c.width()
	}
	x[at] = 1
}

// TargetOf is the class of a row by its number, or its number from -1 to 1; false where there is
// none.
func (e *Encoding) TargetOf(code int64) (float64, bool) {
	switch c := &e.Target; {
	case code == Null:
		return 0, false
	case !c.Categorical():
		return c.Scaled(code), true
	default:
		return float64(code), code >= 0 && code < int64(len(c.Values))
	}
}

// Validate says what is wrong with an encoding. It reads nothing but declarations.
func (e *Encoding) Validate() error {
	if e == nil || len(e.Features) == 0 {
		return fmt.Errorf("%w: there are no features; select at least one column besides the target", ErrEncoding)
	}
	seen := map[string]bool{}
	for i := range e.Features {
		c := &e.Features[i]
		if err := c.validate("feature"); err != nil {
			return err
		}
		if seen[c.Name] {
			return fmt.Errorf("%w: two features are named %q; give one of them another name with AS", ErrEncoding, c.Name)
		}
		seen[c.Name] = true
	}
	if err := e.Target.validate("target"); err != nil {
		return err
	}
	if seen[e.Target.Name] {
		return fmt.Errorf("%w: %q is both the target and a feature; a model would repeat it", ErrEncoding, e.Target.Name)
	}
	if d := e.Dim(); d > maxFeatures {
		return fmt.Errorf("%w: the features become %d weights, and at most %d are allowed; leave out columns with many values",
			ErrEncoding, d, maxFeatures)
	}
	if k := e.Classes(); k > MaxClasses {
		return fmt.Errorf("%w: the target %q has %d classes, and at most %d are allowed; combine some of them with CASE", ErrEncoding,
			e.Target.Name, k, MaxClasses)
	}
	return nil
}

// MaxClasses is how many classes a target has at most, and maxFeatures how many weights a model.
const (
	maxFeatures = 1 << 16
	MaxClasses  = 1 << 8
)

func (c *Column) validate(role string) error {
	switch {
	case strings.TrimSpace(c.Name) == "":
		return fmt.Errorf("%w: a %s has no name; give it one with AS", ErrEncoding, role)
	case c.Kind != "" && c.Kind != "date":
		return fmt.Errorf("%w: %q has the kind %q; it must be \"date\" or empty", ErrEncoding, c.Name, c.Kind)
	case !c.Categorical():
		return c.validateNumber(role)
	case c.Step != nil || c.Lo != 0 || c.Hi != 0 || c.Kind != "":
		return fmt.Errorf("%w: %q has values and bounds; a column has one of the two", ErrEncoding, c.Name)
	case len(c.Values) == 1 && role == "target":
		return fmt.Errorf("%w: the target %q has only one class, %q, so there is nothing to learn; choose a target with two "+
			"classes or more", ErrEncoding, c.Name, c.Values[0])
	case len(c.Values) == 1:
		return fmt.Errorf("%w: the feature %q is always %q, so it tells nothing; leave it out", ErrEncoding, c.Name, c.Values[0])
	}
	seen := map[string]bool{}
	for _, v := range c.Values {
		if seen[v] {
			return fmt.Errorf("%w: %q has the value %q twice", ErrEncoding, c.Name, v)
		}
		seen[v] = true
	}
	return nil
}

func (c *Column) validateNumber(role string) error {
	switch {
	case c.Step == nil || c.Step.Sign() <= 0:
		return fmt.Errorf("%w: the %s %q has no bounds and no values; declare bounds in the policy, or clamp it with least(greatest(...))",
			ErrEncoding, role, c.Name)
	case c.Lo == Null:
		return fmt.Errorf("%w: the lower bound of %q is too low", ErrEncoding, c.Name)
	case c.Lo >= c.Hi && role == "target":
		return fmt.Errorf("%w: the target %q is constant by its bounds, so there is nothing to learn", ErrEncoding, c.Name)
	case c.Lo >= c.Hi:
		return fmt.Errorf("%w: the feature %q is constant by its bounds, so it tells nothing; leave it out", ErrEncoding, c.Name)
	}
	if u := c.Unit(); !(u > 0) || math.IsInf(u, 0) || !(c.Half() > 0) || math.IsInf(u*c.Half(), 0) {
		return fmt.Errorf("%w: the bounds of %q are too large to compute with", ErrEncoding, c.Name)
	}
	return nil
}

type plainColumn Column

// columnJSON has the same fields; the outer one counts. A step is a whole number or a fraction of
// two, as text.
type columnJSON struct {
	plainColumn
	Step string `json:"step,omitempty"`
}

// MarshalJSON writes the step as a fraction.
func (c Column) MarshalJSON() ([]byte, error) {
	j := columnJSON{plainColumn: plainColumn(c)}
	if c.Step != nil {
		j.Step = c.Step.RatString()
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes. Numbers that would not fit in memory are not read:
// big.Rat takes exponents.
func (c *Column) UnmarshalJSON(text []byte) error {
	var j columnJSON
	if err := decodeStrictly(bytes.NewReader(text), &j); err != nil {
		return err
	}
	*c = Column(j.plainColumn)
	if c.Step = nil; j.Step == "" {
		return nil
	}
	if len(j.Step) > 1000 || strings.Trim(j.Step, "0123456789/") != "" {
		return errors.New("a step is a fraction such as 1/100")
	}
	step, ok := new(big.Rat).SetString(j.Step)
	if !ok {
		return errors.New("a step is a fraction such as 1/100")
	}
	c.Step = step
	return nil
}
