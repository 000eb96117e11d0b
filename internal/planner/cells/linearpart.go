package cells

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// part is items that have columns in common, and what they come to in each combination of cells of
// these columns.
type part struct {
	items   []dependentItem
	columns []int // attributes, rising
	keys    []int // those of the items
	adds    bool  // what rows add is one of the items
	amounts []int64
	// says holds, for each combination of cells, which outcome it has: -1 where the rows count
	// nowhere.
	says     []int
	outcomes []outcome
}

// outcome is what rows of a cell are to a part.
type outcome struct {
	keys   []int // places among the values of the part's keys
	amount int64
}

const (
	noGroup     = -1 // rows count in no group
	notComputed = -2
)

// split puts items that have columns in common together. It is false where an item is about
// anything but the stream's columns.
func (l *linearReader) split(items []dependentItem) ([]*part, bool) {
	var parts []*part
	for _, it := range items {
		columns, ok := l.columnsOf(it.expr)
		if !ok {
			return nil, false
		}
		now := &part{items: []dependentItem{it}, columns: columns}
		parts = slices.DeleteFunc(parts, func(p *part) bool {
			if !slices.ContainsFunc(p.columns, func(c int) bool { return slices.Contains(columns, c) }) {
				return false
			}
			now.items, now.columns = append(p.items, now.items...), append(now.columns, p.columns...)
			return true
		})
		slices.Sort(now.columns)
		now.columns = slices.Compact(now.columns)
		parts = append(parts, now)
	}
	for _, p := range parts {
		for _, it := range p.items {
			if it.kind == itemKey {
				p.keys = append(p.keys, it.key)
			}
			p.adds = p.adds || it.kind == itemAmount || it.kind == itemPresent
		}
	}
	return parts, true
}

// columnsOf returns the attributes that an expression is about. Floating-point numbers are left
// out: engines agree on exact values alone.
func (l *linearReader) columnsOf(e tree.Expr) ([]int, bool) {
	var out []int
	ok := true
	tree.Walk(e, func(x tree.Expr) {
		switch x := x.(type) {
		case *tree.Column:
			at := slices.IndexFunc(l.grid.columns, func(c gridColumn) bool { return c.field == x.Index })
			ok = ok && at >= 0
			out = append(out, at)
		case *tree.Exists, *tree.Released:
			ok = false
		}
		ok = ok && x.Type().Kind != tree.Real
	})
	return out, ok
}

// compute tries all points of the columns' cells. It is false where two points of one combination
// of cells say different things.
func (l *linearReader) compute(p *part) bool {
	points := make([][]point, len(p.columns))
	tries, cells := 0, 1
	for _, it := range p.items {
		tries += l.size(it)
	}
	for i, at := range p.columns {
		var ok bool
		if points[i], ok = l.points(at, p.items); !ok {
			return false
		}
		if tries *= len(points[i]); tries+l.work > maxLinearWork {
			return false
		}
		cells *= l.grid.columns[at].Cells()
	}
	if l.work += tries; cells > maxLinearCells {
		return false
	}
	p.says = slices.Repeat([]int{notComputed}, cells)
	row := map[int]tree.Value{}
	leaf := func(x tree.Expr) tree.Value { return row[x.(*tree.Column).Index] }
	known := map[string]int{}
	ok := true
	var try func(i, cell int)
	try = func(i, cell int) {
		if !ok {
			return
		}
		if i == len(p.columns) {
			says := l.outcome(p, leaf, known)
			ok = p.says[cell] == notComputed || p.says[cell] == says
			p.says[cell] = says
			return
		}
		c := l.grid.columns[p.columns[i]]
		for _, x := range points[i] {
			row[c.field] = x.value
			try(i+1, cell*c.Cells()+x.cell)
		}
	}
	try(0, 0)
	for _, o := range p.outcomes {
		if p.adds && o.amount != 0 && !slices.Contains(p.amounts, o.amount) {
			p.amounts = append(p.amounts, o.amount)
		}
	}
	slices.Sort(p.amounts)
	return ok && len(p.amounts) <= maxTerms
}

// size is how many parts of an expression are computed for one row. A list counts with all its
// values.
func (l *linearReader) size(it dependentItem) int {
	n := 0
	if it.kind == itemKey {
		n = len(l.keys[it.key].Values)
	}
	tree.Walk(it.expr, func(x tree.Expr) {
		n++
		if in, ok := x.(*tree.In); ok {
			n += len(in.List)
		}
	})
	return n
}

// outcome computes what a row is to a part.
func (l *linearReader) outcome(p *part, leaf func(tree.Expr) tree.Value, known map[string]int) int {
	var o outcome
	for _, it := range p.items {
		l.meter.Work(1, meter.Found)
		v := expr.Compute(l.meter, it.expr, leaf)
		switch it.kind {
		case itemCondition:
			if v != true {
				return noGroup
			}
		case itemKey:
			k := l.keys[it.key]
			own := expr.KeyValue(v, k.Expr.Type())
			at := slices.IndexFunc(k.Values, func(w policy.Value) bool { return expr.SameKey(own, w) })
			if at < 0 {
				return noGroup
			}
			o.keys = append(o.keys, at)
		case itemPresent:
			if v != nil {
				o.amount = 1
			}
		case itemAmount:
			if n, ok := v.(*big.Int); ok {
				o.amount = n.Int64() // a measure has at most 2^53 steps
			}
		}
	}
	name := fmt.Sprint(o.keys, o.amount)
	at, ok := known[name]
	if !ok {
		at = len(p.outcomes)
		known[name] = at
		p.outcomes = append(p.outcomes, o)
	}
	return at
}

// point is a value of a column, and the cell it is in. NULL is one.
type point struct {
	cell  int
	value tree.Value
}

// maxBinPoints is how many points of one range are tried one by one.
const maxBinPoints = 1 << 13

type columnUses struct {
	// constants are what it is compared with, as lattice points.
	constants []int64
	// inside says that it is used in another way than in comparisons with constants, so that every
	// point of a range may be its own case.
	inside bool
	// among says that it is used in a way that may tell values from each other that are not listed.
	among bool
}

// points returns the values that have to be tried to know what items are on each cell of a column;
// false where they are too many, or where no values are enough.
func (l *linearReader) points(attribute int, items []dependentItem) ([]point, bool) {
	c := l.grid.columns[attribute]
	u := &columnUses{}
	for _, it := range items {
		own, bare := it.expr.(*tree.Column)
		switch {
		case !bare || own.Index != c.field:
			u.collect(c, it.expr)
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
			all, ok := u.points(b)
			if !ok {
				return nil, false
			}
			for _, at := range all {
				out = append(out, point{i, c.value(at)})
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

// points returns the points of a range that stand for all of it.
func (u *columnUses) points(b policy.Bin) ([]int64, bool) {
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

func (u *columnUses) collect(c gridColumn, e tree.Expr) {
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
		u.collect(c, p)
	}
}

// compared notes that the column is compared with a constant; false where it is not, but perhaps
// something made of it.
func (u *columnUses) compared(c gridColumn, x tree.Expr, op tree.CompareOp, l *tree.Literal) bool {
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
