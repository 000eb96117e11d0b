package plan

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// maker makes up expressions over four columns: x in 0..3, y in halves from -1 to 1, and two truths. All may be NULL.
type maker struct{ *rand.Rand }

var simpleColumns = []*Column{
	{Index: 0, Field: Field{Name: "x", Type: numberType(one, big.NewInt(0), big.NewInt(3), true), Nullable: true}},
	{Index: 1, Field: Field{Name: "y", Type: numberType(big.NewRat(1, 2), big.NewInt(-2), big.NewInt(2), true), Nullable: true}},
	{Index: 2, Field: Field{Name: "b", Type: boolean, Nullable: true}},
	{Index: 3, Field: Field{Name: "c", Type: boolean, Nullable: true}},
}

func (m maker) number(depth int) Expr {
	switch m.IntN(4 - min(depth, 2)) {
	case 0:
		return newNumber(big.NewRat(m.Int64N(13)-4, 1+m.Int64N(3)))
	case 1:
		return simpleColumns[0]
	case 2:
		return simpleColumns[1]
	}
	e, err := newArith([]ArithOp{Add, Sub, Mul}[m.IntN(3)], m.number(depth+1), m.number(depth+1), -1)
	if err != nil {
		return simpleColumns[0]
	}
	return e
}

func (m maker) truth(depth int) Expr {
	if depth > 3 {
		return simpleColumns[2+m.IntN(2)]
	}
	var e Expr
	var err error
	switch m.IntN(9) {
	case 0, 1, 2:
		op := []CompareOp{Eq, Ne, Lt, Le, Gt, Ge, Distinct, NotDistinct}[m.IntN(8)]
		e, err = newCompare(op, m.number(1), m.number(1), -1)
	case 3:
		e = &Logic{[]LogicOp{And, Or}[m.IntN(2)], []Expr{m.truth(depth + 1), m.truth(depth + 1), m.truth(depth + 1)}}
	case 4:
		e = &Not{m.truth(depth + 1)}
	case 5:
		e, err = newIn(simpleColumns[0], []Expr{newNumber(big.NewRat(m.Int64N(5), 1)), newNumber(big.NewRat(m.Int64N(5), 1))}, -1)
	case 6:
		e = &IsNull{m.truth(depth + 1)}
	case 7:
		e, err = newCompare([]CompareOp{Eq, Ne}[m.IntN(2)], m.truth(depth+1), newBool(m.IntN(2) == 0), -1)
	case 8:
		e, err = newCase([]When{{m.truth(depth + 1), m.truth(depth + 1)}}, newBool(m.IntN(2) == 0), -1)
	}
	if err != nil {
		return simpleColumns[2]
	}
	return e
}

// TestNormalKeepsValues: the normal form has the value of the expression in every row, and its truth is true where it is.
func TestNormalKeepsValues(t *testing.T) {
	var rows [][]Value
	for x := int64(-1); x <= 3; x++ {
		for y := int64(-3); y <= 2; y++ {
			for bc := range 9 {
				row := []Value{big.NewInt(x), big.NewInt(y), bc%3 == 0, bc/3 == 0}
				for i, none := range []bool{x < 0, y < -2, bc%3 == 2, bc/3 == 2} {
					if none {
						row[i] = nil
					}
				}
				rows = append(rows, row)
			}
		}
	}
	m := maker{rand.New(rand.NewPCG(1, 2))}
	changed := 0
	for range 6000 {
		e := m.truth(0)
		n := normal(e)
		only := truth(n)
		if Format(n) != Format(e) {
			changed++
		}
		for _, row := range rows {
			leaf := func(x Expr) Value { return row[x.(*Column).Index] }
			want, got := Eval(e, leaf), Eval(n, leaf)
			if want != got {
				t.Fatalf("%s is %v in %v, and its normal form %s is %v", Format(e), want, row, Format(n), got)
			}
			if (want == true) != (Eval(only, leaf) == true) {
				t.Fatalf("%s is %v in %v, and its truth %s is not", Format(e), want, row, Format(only))
			}
		}
	}
	if changed < 3000 {
		t.Errorf("only %d were changed", changed)
	}
}
