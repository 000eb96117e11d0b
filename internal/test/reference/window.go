package reference

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// window computes windows: for each row of a person a value of the rows of the same person.
func (r run) window(w *tree.Window) []row {
	rows := r.somebodys(w.From, w.Where)
	out := make([]row, len(rows))
	at := map[*tree.Value]int{} // a row by the place of its first value
	for i, values := range rows {
		rows[i], out[i] = slices.Clone(values), slices.Clone(values)
		at[&rows[i][0]] = i
	}
	for k, o := range w.Calls {
		t := w.Fields()[len(w.From.Fields())+k].Type
		partitions := grouped(rows, func(v row) string { return fmt.Sprintf("%q %s", v[w.Whose], r.spelling(v, o.By)) })
		for _, own := range partitions {
			slices.SortStableFunc(own, func(a, b row) int { return cmp.Or(r.ordered(o, a, b), r.tied(w, o, a, b)) })
			for i := range own {
				place := at[&own[i][0]]
				out[place] = append(out[place], inside(r.over(o, own, i), t))
			}
		}
	}
	return out
}

// ordered compares two rows by the order of a window.
func (r run) ordered(o tree.Over, a, b row) int {
	return expr.CompareRows(o.Order, r.leaf(a), r.leaf(b))
}

// tied compares rows that are equal in the order, where it matters which comes first.
func (r run) tied(w *tree.Window, o tree.Over, a, b row) int {
	if !o.Ordered() {
		return 0
	}
	for _, i := range w.Ties {
		x, y := a[i], b[i]
		switch {
		case x == nil && y == nil:
			continue
		case x == nil:
			return 1
		case y == nil:
			return -1
		}
		c := 0
		if w.From.Fields()[i].Type.Kind == tree.Identity {
			c = compareIdentities(x.(string), y.(string))
		} else {
			c = expr.CompareValues(x, y)
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// compareIdentities orders stored names: whole numbers as such, and everything else by its bytes.
func compareIdentities(a, b string) int {
	x, err1 := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	if err1 == nil && err2 == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// over computes a window for the i-th of a partition's rows, which are in their order.
func (r run) over(o tree.Over, own []row, i int) tree.Value {
	value := func(at int) tree.Value { return expr.Eval(o.Arg, r.leaf(own[at])) }
	n := int(o.N)
	switch o.Kind {
	case tree.PartNumber:
		return big.NewInt(int64(i + 1))
	case tree.PartRank, tree.PartDense:
		return big.NewInt(r.rank(o, own, i))
	case tree.PartTile:
		return big.NewInt(tile(len(own), n, i))
	case tree.PartLag, tree.PartLead:
		at := i + n
		if o.Kind == tree.PartLag {
			at = i - n
		}
		if at >= 0 && at < len(own) {
			return value(at)
		}
		if o.Otherwise == nil {
			return nil
		}
		return expr.Eval(o.Otherwise, r.leaf(own[i]))
	}
	from, upto := r.frame(o, own, i)
	switch o.Kind {
	case tree.PartFirst:
		n = 1
	case tree.PartLast:
		n = upto - from
	case tree.PartNth:
	default:
		return r.part(o.Part, own[from:upto])
	}
	if n < 1 || from+n > upto {
		return nil
	}
	return value(from + n - 1)
}

// rank counts the rows before this one that are not equal to it in the order, and for PartDense
// different ones alone.
func (r run) rank(o tree.Over, own []row, i int) int64 {
	rank := int64(1)
	for k := 1; k <= i; k++ {
		if r.ordered(o, own[k-1], own[k]) == 0 {
			continue
		}
		if o.Kind == tree.PartDense {
			rank++
		} else {
			rank = int64(k + 1)
		}
	}
	return rank
}

// tile says in which of n parts of some rows the i-th is. The first parts have one more where they
// cannot be equal.
func tile(rows, n, i int) int64 {
	small, more := rows/n, rows%n
	if i < more*(small+1) {
		return int64(i/(small+1) + 1)
	}
	return int64(more + (i-more*(small+1))/small + 1)
}

// frame is from where up to where, exclusive, the frame of the i-th row goes.
func (r run) frame(o tree.Over, own []row, i int) (from, upto int) {
	first, last := i, i
	if o.Frame.Peers {
		for first > 0 && r.ordered(o, own[first-1], own[i]) == 0 {
			first--
		}
		for last+1 < len(own) && r.ordered(o, own[last+1], own[i]) == 0 {
			last++
		}
	}
	from, upto = first+int(o.Frame.Start.At), last+int(o.Frame.End.At)+1
	if o.Frame.Start.Open {
		from = 0
	}
	if o.Frame.End.Open {
		upto = len(own)
	}
	from, upto = min(max(from, 0), len(own)), min(max(upto, 0), len(own))
	return from, max(from, upto)
}
