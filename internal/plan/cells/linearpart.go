package cells

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// part is items that have columns in common, and what they come to in each combination of cells of
// these columns.
type part struct {
	items   []item
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
	nowhere = -1 // rows count in no group
	unseen  = -2
)

// split puts items that have columns in common together. It is false where an item is about
// anything but the stream's columns.
func (l *reading) split(items []item) ([]*part, bool) {
	var parts []*part
	for _, it := range items {
		columns, ok := l.columnsOf(it.expr)
		if !ok {
			return nil, false
		}
		now := &part{items: []item{it}, columns: columns}
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
func (l *reading) columnsOf(e tree.Expr) ([]int, bool) {
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
func (l *reading) compute(p *part) bool {
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
	p.says = slices.Repeat([]int{unseen}, cells)
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
			ok = p.says[cell] == unseen || p.says[cell] == says
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
func (l *reading) size(it item) int {
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
func (l *reading) outcome(p *part, leaf func(tree.Expr) tree.Value, known map[string]int) int {
	var o outcome
	for _, it := range p.items {
		l.meter.Work(1, meter.Found)
		v := expr.Compute(l.meter, it.expr, leaf)
		switch it.kind {
		case itemCondition:
			if v != true {
				return nowhere
			}
		case itemKey:
			k := l.keys[it.key]
			own := expr.KeyValue(v, k.Expr.Type())
			at := slices.IndexFunc(k.Values, func(w policy.Value) bool { return expr.SameKey(own, w) })
			if at < 0 {
				return nowhere
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
