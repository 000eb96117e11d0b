package tree

import "github.com/discreet-dp/discreet/policy"

// Value is the value of an expression: nil for NULL, *big.Int steps for a
// Number, float64 for a Real, string, bool, Day or Moment.
type Value any

// Day is a date in days since 1970-01-01.
type Day int64

func (d Day) String() string { return policy.FormatDate(int64(d)) }

// Value returns the literal's value.
func (e *Literal) Value() Value {
	switch {
	case e.Number != nil:
		return e.Number
	case e.Text != nil:
		return *e.Text
	case e.Bool != nil:
		return *e.Bool
	case e.Days != nil:
		return Day(*e.Days)
	case e.Micros != nil:
		return Moment(*e.Micros)
	}
	return nil
}
