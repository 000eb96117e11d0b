package cells

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// point is a value of a column, and the cell it is in. NULL is one.
type point struct {
	cell  int
	value tree.Value
}

// maxBinPoints is how many points of one range are tried one by one.
const maxBinPoints = 1 << 13

// uses is how expressions use a column.
type uses struct {
	// constants are what it is compared with, as lattice points.
	constants []int64
	// inside says that it is used in another way than in comparisons with constants, so that every point of a range may be its own case.
	inside bool
	// among says that it is used in a way that may tell values from each other that are not listed.
	among bool
}

// points returns the values that have to be tried to know what items are on each cell of a column; false where they are too many, or where no values are enough.
func (l *reading) points(attribute int, items []item) ([]point, bool) {
	c := l.grid.columns[attribute]
	u := &uses{}
	for _, it := range items {
		own, bare := it.expr.(*tree.Column)
		switch {
		case !bare || own.Index != c.field:
			u.look(c, it.expr)
		case it.kind == itemKey:
			u.inside = true
			for _, v := range l.keys[it.key].Values {
				u.among = u.among || !v.Null && !c.lists(v)
			}
		case it.kind != itemPresent:
			u.inside, u.among = true, true
		}
	}
	var out []point
	for i, b := range c.Bins {
		switch {
		case b.Other:
			if u.among {
				return nil, false
			}
			out = append(out, point{i, c.unlisted()})
		case !b.Range:
			out = append(out, point{i, expr.FromKey(b.Value, c.typ)})
		default:
			all, ok := u.within(b)
			if !ok {
				return nil, false
			}
			for _, at := range all {
				out = append(out, point{i, c.at(at)})
			}
		}
		if len(out) > maxLinearWork {
			return nil, false
		}
	}
	if c.Null {
		out = append(out, point{len(c.Bins), nil})
	}
	return out, true
}

// within returns the points of a range that stand for all of it.
func (u *uses) within(b policy.Bin) ([]int64, bool) {
	if b.Hi-b.Lo < int64(3*len(u.constants)+2) || u.inside {
		if b.Hi-b.Lo >= maxBinPoints {
			return nil, false
		}
		var out []int64
		for at := b.Lo; at <= b.Hi; at++ {
			out = append(out, at)
		}
		return out, true
	}
	out := []int64{b.Lo, b.Hi}
	for _, k := range u.constants {
		for _, at := range []int64{k - 1, k, k + 1} {
			if b.Lo < at && at < b.Hi {
				out = append(out, at)
			}
		}
	}
	return out, true
}

// look finds how an expression uses a column.
func (u *uses) look(c gridColumn, e tree.Expr) {
	switch e := e.(type) {
	case *tree.Column:
		if e.Index == c.field {
			u.inside, u.among = true, true
		}
		return
	case *tree.IsNull:
		if x, ok := e.X.(*tree.Column); ok && x.Index == c.field {
			return
		}
	case *tree.Compare:
		for _, side := range [][2]tree.Expr{{e.L, e.R}, {e.R, e.L}} {
			if l, ok := side[1].(*tree.Literal); ok && u.compared(c, side[0], e.Op, l) {
				return
			}
		}
	case *tree.In:
		fits := true
		for _, l := range e.List {
			fits = fits && u.compared(c, e.X, tree.Eq, l)
		}
		if fits {
			return
		}
	}
	for _, p := range tree.Parts(e) {
		u.look(c, p)
	}
}

// compared notes that the column is compared with a constant; false where it is not, but perhaps something made of it.
func (u *uses) compared(c gridColumn, x tree.Expr, op tree.CompareOp, l *tree.Literal) bool {
	factor := big.NewInt(1)
	if r, ok := x.(*tree.Rescale); ok {
		x, factor = r.X, r.Factor
	}
	if own, ok := x.(*tree.Column); !ok || own.Index != c.field {
		return false
	}
	if l.IsNullLiteral() {
		return true
	}
	v := l.Value()
	switch op {
	case tree.Eq, tree.Ne, tree.Distinct, tree.NotDistinct:
		u.among = u.among || factor.Cmp(big.NewInt(1)) != 0 || expr.ExceedsInt64(l) || !c.lists(expr.KeyValue(v, c.typ))
	default:
		u.among = true
	}
	switch v := v.(type) {
	case *big.Int:
		at := new(big.Int).Div(v, factor) // towards the lower side
		if at.IsInt64() && at.BitLen() < 63 {
			u.constants = append(u.constants, at.Int64())
		}
	case tree.Day:
		u.constants = append(u.constants, int64(v))
	case tree.Moment:
		u.constants = append(u.constants, int64(v))
	}
	return true
}

// lists reports whether a value has a cell of its own.
func (c gridColumn) lists(v policy.Value) bool {
	_, ok := c.listed[v]
	return ok
}

// unlisted is a value that is in no cell of its own.
func (c gridColumn) unlisted() tree.Value {
	v := policy.Value{Type: expr.KeyType(c.typ), Text: "\x00"}
	if v.Type != policy.Text {
		v.Text = ""
	}
	for c.lists(v) {
		if v.Type == policy.Text {
			v.Text += "\x00"
		} else {
			v.Int++
		}
	}
	return expr.FromKey(v, c.typ)
}
