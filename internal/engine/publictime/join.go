package publictime

import (
	"math"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// addHashJoin adds a join by a table of hashes that is made of one side.
func (w *estimator) addHashJoin(built, probed float64) {
	w.shared += (built*w.build + probed*w.probe) * cacheFactor(built)
}

// addJoin adds a join of two relations, of which the smaller one is put into the table of hashes:
// the printer decides it by the sizes that are public (dialect.Printer). Where the database does,
// it may be either.
func (w *estimator) addJoin(j *tree.Join, l, r float64) {
	turned := w.sizes.largestTable(j.L) < w.sizes.largestTable(j.R)
	switch {
	case w.chooses:
		w.addHashJoin(max(l, r), min(l, r))
	case turned:
		w.addHashJoin(l, r)
	default:
		w.addHashJoin(r, l)
	}
}

// cacheFactor is by how much it takes longer to find a row among so many: those of a large table
// are not in the caches of a processor, and those of a small one are in the nearest.
func cacheFactor(rows float64) float64 { return max(0.4, 1+0.1*math.Log2(max(1, rows)/cachedRows)) }

// cachedRows is how many rows are in the caches that all cores share.
const cachedRows = 1 << 17

func (w *estimator) join(j *tree.Join, used []bool) load {
	nl, nr := len(j.L.Fields()), len(j.R.Fields())
	needed := make([]bool, nl+nr)
	copy(needed, used)
	markFields(j.On, needed)
	if j.Full {
		needed[j.L.Unit()], needed[nl+j.R.Unit()] = true, true
	}
	l, r := w.relation(j.L, needed[:nl]), w.relation(j.R, needed[nl:])
	out := load{lengths: append(append([]float64{}, l.lengths...), r.lengths...)}
	pairs := 0.0 // that On is computed for
	lp, rp := tree.Private(j.L), tree.Private(j.R)
	switch {
	case lp && rp:
		w.addJoin(j, l.rows, r.rows)
		pairs = w.sizes.pairsOfPeople(j, l, r)
		out.person, out.met = l.person*r.person, max(1, l.met)*max(1, r.met)
	case lp || rp:
		private, public, side, offset := l, r, j.R, nl
		if rp {
			private, public, side, offset = r, l, j.L, 0
		}
		met, equal := w.sizes.fanout(side, public, j.On, offset)
		if equal {
			w.addJoin(j, l.rows, r.rows)
		} else {
			w.each(l.rows*r.rows, w.pair)
		}
		met = w.sizes.mayMeet(met, private)
		pairs = private.rows * met
		out.person, out.met = private.person*met, met*max(1, private.met)
	default:
		met, equal := w.sizes.fanout(j.R, r, j.On, nl)
		if equal {
			w.addJoin(j, l.rows, r.rows)
		} else {
			w.each(l.rows*r.rows, w.pair)
		}
		pairs = min(l.rows*met, maxPublicJoinRows)
		w.each(pairs, w.handed)
	}
	out.rows = pairs
	if j.Left {
		out.rows = max(out.rows, l.rows)
	}
	if j.Full {
		out.rows = max(pairs, l.rows+r.rows)
		out.lengths = append(out.lengths, max(l.lengths[j.L.Unit()], r.lengths[j.R.Unit()]))
	}
	w.expression(j.On, load{rows: pairs, lengths: out.lengths})
	w.each(out.rows, w.carryingCost(j.Fields()[:nl+nr], needed, out.lengths))
	if j.Left && j.On != nil && !j.Hashable() {
		w.each(l.rows, 2*w.handed+w.build+w.sort)
		w.each(pairs, w.handed+w.probe)
	}
	return out
}

// maxPublicJoinRows is how many rows of public tables joined with each other the planner allows.
const maxPublicJoinRows = 10_000_000

// countFanouts is how many joins below multiply the rows of a person by those of the same person.
func countFanouts(r tree.Relation) int {
	switch r := r.(type) {
	case *tree.Join:
		return r.Fans
	case *tree.Select:
		return countFanouts(r.From)
	case *tree.Cut:
		return countFanouts(r.From)
	case *tree.Window:
		return countFanouts(r.From)
	}
	return 0
}

// withoutRescale is what has as many different values: the number that is written with more digits.
func withoutRescale(e tree.Expr) tree.Expr {
	for {
		r, ok := e.(*tree.Rescale)
		if !ok || r.Factor.Sign() == 0 {
			return e
		}
		e = r.X
	}
}

// conjuncts are the conditions that all have to hold.
func conjuncts(e tree.Expr) []tree.Expr {
	if and, ok := e.(*tree.Logic); ok && and.Op == tree.And {
		var out []tree.Expr
		for _, a := range and.Args {
			out = append(out, conjuncts(a)...)
		}
		return out
	}
	if e == nil {
		return nil
	}
	return []tree.Expr{e}
}

// namesField reports whether an expression names a field from a place on, of so many.
func namesField(e tree.Expr, from, n int) (found bool) {
	tree.Walk(e, func(x tree.Expr) {
		if c, ok := x.(*tree.Column); ok {
			found = found || c.Index >= from && c.Index < from+n
		}
	})
	return found
}

// markFields marks the fields that an expression names, where it is about a row of so many fields.
func markFields(e tree.Expr, used []bool) {
	if e == nil {
		return
	}
	tree.Walk(e, func(x tree.Expr) {
		if c, ok := x.(*tree.Column); ok && c.Index < len(used) {
			used[c.Index] = true
		}
	})
}

// exists adds what it takes to ask a subquery for each of so many rows.
func (w *estimator) exists(e *tree.Exists, outer load) {
	n := len(e.From.Fields())
	used := make([]bool, e.Outer+n)
	if e.From.Unit() >= 0 {
		used[e.Outer+e.From.Unit()] = true
	}
	markFields(e.On, used)
	from := w.relation(e.From, used[e.Outer:])
	row := load{lengths: append(padLengths(outer.lengths, e.Outer), from.lengths...)}
	if onlyColumns(e.On) {
		w.addHashJoin(from.rows, outer.rows)
		w.expression(e.On, load{})
		return
	}
	// Rows that ask alike are asked for once: they are grouped, and the subquery is joined to them.
	w.each(outer.rows, w.group+w.probe+w.build)
	switch {
	case tree.Private(e.From):
		w.addHashJoin(from.rows, outer.rows)
		row.rows, row.person = w.sizes.pairsOf(outer, from), outer.person*from.person
	default:
		met, equal := w.sizes.fanout(e.From, from, e.On, e.Outer)
		if equal {
			w.addHashJoin(from.rows, outer.rows)
		} else {
			w.each(outer.rows*from.rows, w.pair)
		}
		w.each(outer.rows*from.rows, w.asked)
		met = w.sizes.mayMeet(met, outer)
		row.rows, row.person, row.met = outer.rows*met, outer.person*met, met*max(1, outer.met)
	}
	w.expression(e.On, row)
	w.each(row.rows, w.probe)
}

// onlyColumns reports whether a condition says that columns are equal, and nothing else.
func onlyColumns(on tree.Expr) bool {
	for _, c := range conjuncts(on) {
		eq, ok := c.(*tree.Compare)
		if !ok || eq.Op != tree.Eq {
			return false
		}
		if _, ok := eq.L.(*tree.Column); !ok {
			return false
		}
		if _, ok := eq.R.(*tree.Column); !ok {
			return false
		}
	}
	return on != nil
}

func padLengths(lengths []float64, n int) []float64 {
	out := make([]float64, n)
	copy(out, lengths)
	return out
}
