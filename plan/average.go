package plan

import (
	"math/big"
)

// placeAverage decides which sum an average is made of. Where the question has the
// plain sum anyway it is used, and nothing more is paid for. Otherwise values
// are summed around the middle of their bounds, which halves the noise.
func (c *checker) placeAverage(d *draft) error {
	plain := Measure{Sum, d.average}
	d.measure, d.Center = plain.Format(), new(big.Int)
	c.addMeasure(countOf(d.average))
	if _, ok := c.aggregates[d.measure]; ok {
		return nil
	}
	t := d.average.Type()
	middle := new(big.Int).Add(t.Lo, t.Hi)
	middle.Rsh(middle, 1)
	if middle.Sign() == 0 {
		c.addMeasure(plain)
		return nil
	}
	centered, err := newArith(Sub, d.average, fromValue(middle, t), -1)
	if err != nil {
		return err
	}
	m := Measure{Sum, centered}
	d.measure, d.Center = m.Format(), middle
	c.addMeasure(m)
	return nil
}

// countOf is the measure an average divides by: the number of values. Where the
// policy says that the column is never NULL this is the number of rows, which
// the question may have asked for as well.
func countOf(arg Expr) Measure {
	nullable := false
	walk(arg, func(e Expr) {
		switch e := e.(type) {
		case *Column:
			nullable = nullable || e.Nullable
		case *Arith:
			nullable = nullable || e.Op == Quo || e.Op == Rem
		case *Literal:
			nullable = nullable || e.IsNullLiteral()
		}
	})
	if nullable {
		return Measure{CountValues, arg}
	}
	return Measure{Kind: CountRows}
}
