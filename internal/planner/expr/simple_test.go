package expr

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// maker makes up expressions over four columns: x in 0..3, y in halves from -1 to 1, and two
// truths. All may be NULL.
type maker struct{ *rand.Rand }

var simpleColumns = []*tree.Column{
	{Index: 0, Field: tree.Field{Name: "x", Type: tree.NumberType(tree.One, big.NewInt(0), big.NewInt(3), true), Nullable: true}},
	{Index: 1, Field: tree.Field{Name: "y", Type: tree.NumberType(big.NewRat(1, 2), big.NewInt(-2), big.NewInt(2), true), Nullable: true}},
	{Index: 2, Field: tree.Field{Name: "b", Type: tree.Bool, Nullable: true}},
	{Index: 3, Field: tree.Field{Name: "c", Type: tree.Bool, Nullable: true}},
}

func (m maker) number(depth int) tree.Expr {
	switch m.IntN(4 - min(depth, 2)) {
	case 0:
		return NewNumber(big.NewRat(m.Int64N(13)-4, 1+m.Int64N(3)))
	case 1:
		return simpleColumns[0]
	case 2:
		return simpleColumns[1]
	}
	e, err := NewArith([]tree.ArithOp{tree.Add, tree.Sub, tree.Mul}[m.IntN(3)], m.number(depth+1), m.number(depth+1), -1)
	if err != nil {
		return simpleColumns[0]
	}
	return e
}

func (m maker) truth(depth int) tree.Expr {
	if depth > 3 {
		return simpleColumns[2+m.IntN(2)]
	}
	var e tree.Expr
	var err error
	switch m.IntN(9) {
	case 0, 1, 2:
		op := []tree.CompareOp{tree.Eq, tree.Ne, tree.Lt, tree.Le, tree.Gt, tree.Ge, tree.Distinct, tree.NotDistinct}[m.IntN(8)]
		e, err = NewCompare(op, m.number(1), m.number(1), -1)
	case 3:
		e = &tree.Logic{Op: []tree.LogicOp{tree.And, tree.Or}[m.IntN(2)],
			Args: []tree.Expr{m.truth(depth + 1), m.truth(depth + 1), m.truth(depth + 1)}}
	case 4:
		e = &tree.Not{X: m.truth(depth + 1)}
	case 5:
		e, err = NewIn(simpleColumns[0], []tree.Expr{NewNumber(big.NewRat(m.Int64N(5), 1)), NewNumber(big.NewRat(m.Int64N(5), 1))}, -1)
	case 6:
		e = &tree.IsNull{X: m.truth(depth + 1)}
	case 7:
		e, err = NewCompare([]tree.CompareOp{tree.Eq, tree.Ne}[m.IntN(2)], m.truth(depth+1), NewBool(m.IntN(2) == 0), -1)
	case 8:
		e, err = NewCase([]tree.When{{If: m.truth(depth + 1), Then: m.truth(depth + 1)}}, NewBool(m.IntN(2) == 0), -1)
	}
	if err != nil {
		return simpleColumns[2]
	}
	return e
}

// TestNormalKeepsValues: the normal form has the value of the expression in every row, and its
// truth is true where it is.
func TestNormalKeepsValues(t *testing.T) {
	var rows [][]tree.Value
	for x := int64(-1); x <= 3; x++ {
		for y := int64(-3); y <= 2; y++ {
			for bc := range 9 {
				row := []tree.Value{big.NewInt(x), big.NewInt(y), bc%3 == 0, bc/3 == 0}
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
		n := Normal(e)
		only := Truth(n)
		if tree.Format(n) != tree.Format(e) {
			changed++
		}
		for _, row := range rows {
			leaf := func(x tree.Expr) tree.Value { return row[x.(*tree.Column).Index] }
			want, got := Eval(e, leaf), Eval(n, leaf)
			if want != got {
				t.Fatalf("%s is %v in %v, and its normal form %s is %v", tree.Format(e), want, row, tree.Format(n), got)
			}
			if (want == true) != (Eval(only, leaf) == true) {
				t.Fatalf("%s is %v in %v, and its truth %s is not", tree.Format(e), want, row, tree.Format(only))
			}
		}
	}
	if changed < 3000 {
		t.Errorf("only %d were changed", changed)
	}
}
