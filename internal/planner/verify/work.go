package verify

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Work checks how much one person can add to the work of a query, which whoever asks it can see by
// the time that it takes. It follows from the tree and from sizes of public tables:
//
//   - one row of a person meets at most max_fanout rows of public tables, in all joins and
//     subqueries together;
//   - where rows of a person are multiplied, by public rows or by those of the same person, or much
//     is computed with each, there is a bound on how many there are: a cut below, of so many that
//     all that is looked at is in proportion to what the policy lets be joined.
//
// What it takes to read a person's rows once is nowhere bounded, and is not looked at.
//
// It rests on keys and on who has one row, as a relation claims them: [Query] derives these.
func Work(ds *policy.Dataset, public tree.Public, q *tree.Query) error {
	return guarded(func() {
		w := newWorker(ds, public)
		exprs := append([]tree.Expr{q.Where}, arguments(q.Measures)...)
		sorts := int64(0)
		for _, k := range q.Keys {
			exprs = append(exprs, k.Expr)
			if k.Private {
				sorts = 1
			}
		}
		// Each such measure is a statement of its own, which puts a person's values into an order.
		values := int64(0)
		for _, m := range q.Measures {
			if m.Kind == tree.Quantile || m.Kind == tree.CountDistinct {
				values++
			}
		}
		if len(q.Measures) == 0 && q.Choice == nil && sorts == 0 {
			return // public keys alone, of which no engine hears
		}
		w.checkTop(q.From, max(sorts, values), exprs)
	})
}

// TableWork is Work for rows to train on, which are put into an order.
func TableWork(ds *policy.Dataset, public tree.Public, t *tree.Table) error {
	return guarded(func() {
		exprs := []tree.Expr{t.Where}
		for _, c := range t.Columns {
			exprs = append(exprs, c.Expr)
		}
		newWorker(ds, public).checkTop(t.From, 1, exprs)
	})
}

const (
	// looksPerJoinableRow is how many times as many rows are looked at as may be joined.
	looksPerJoinableRow = 500
	// maxCutPerJoinableRow is how many times as many there may be where little is done with each.
	maxCutPerJoinableRow = 32
	// operationsPerLook is how many operations are one more look at a row, and fewestLooksToCut is
	// how many looks are not worth a cut.
	operationsPerLook, fewestLooksToCut = 8, 5
	// looksPerSort is how many looks it is to put a row into an order.
	looksPerSort = 16
	// maxOperationsPerRow is how many operations may be made for one row of a person with all
	// public rows that it meets.
	maxOperationsPerRow = 200_000
	// maxFreeUnionParts is how many parts of a union may read the same rows.
	maxFreeUnionParts = 3
	unlimitedRows     = int64(1) << 62
)

type worker struct {
	*trail
	ds     *policy.Dataset
	public tree.Public
}

func newWorker(ds *policy.Dataset, public tree.Public) *worker { return &worker{&trail{}, ds, public} }

// load is what is known about rows: how many a person has, or how many there are of public ones;
// how many public rows each has met; and how much was computed with each since they were cut.
type load struct{ rows, met, size int64 }

// effort is what is done with one row: how many rows are looked at in subqueries, of public tables
// and of all, and how many operations there are.
type effort struct{ public, rows, size int64 }

func (c effort) looks() int64 { return max(c.rows, c.size/operationsPerLook) }

func (c effort) times(n int64) effort {
	return effort{public: timesRows(n, max(1, c.public)), rows: timesRows(n, max(1, c.looks()))}
}

// addRows and timesRows stop at unlimitedRows; no number of theirs is below 0.
func addRows(a, b int64) int64 {
	if a > unlimitedRows-b {
		return unlimitedRows
	}
	return a + b
}

func timesRows(a, b int64) int64 {
	if a > 0 && b > unlimitedRows/a {
		return unlimitedRows
	}
	return a * b
}

// checkTop checks what is done with the rows of a query.
func (w *worker) checkTop(from tree.Relation, sorts int64, exprs []tree.Expr) {
	l := w.rows(from)
	c := w.efforts(l.rows, exprs...)
	c.rows = max(c.rows, sorts*looksPerSort)
	if from.Unit() >= 0 {
		w.checkBounded(from, l, c)
	}
}

// checkBounded makes sure that not too much is done with rows of one person.
func (w *worker) checkBounded(r tree.Relation, l load, c effort) {
	met := timesRows(l.met, max(1, c.public))
	w.must(met <= w.ds.Fanout(), "a row of a person meets %d public rows, and at most %d may be met", met, w.ds.Fanout())
	w.checkComputed(l.met, c.size)
	looks := max(c.rows, addRows(l.size, c.size)/operationsPerLook)
	few := l.rows <= 1 || c.rows <= 1 && looks < fewestLooksToCut || timesRows(l.rows, looks) <= timesRows(joinable(r), looksPerJoinableRow)
	w.must(few, "%d rows of a person, or any number, are looked at %d times each, and are not cut before", l.rows, looks)
}

func (w *worker) checkComputed(met, operations int64) {
	w.must(met <= 1 || timesRows(met, operations) <= maxOperationsPerRow,
		"too much is computed with each of %d public rows that a row meets", met)
}

// rows derives how many rows of one person a relation has.
func (w *worker) rows(r tree.Relation) (out load) {
	w.locate(r, func() {
		switch r := r.(type) {
		case *tree.Scan:
			out = load{rows: unlimitedRows, met: 1}
			if r.Unit() < 0 {
				out.rows = w.most(r, nil)
			} else if r.Single() {
				out.rows = 1
			}
		case *tree.Join:
			out = w.join(r)
		case *tree.Select:
			out = w.each(r.From, append([]tree.Expr{r.Where}, r.Columns...), 0)
		case *tree.Union:
			out = w.union(r)
		case *tree.Persons:
			sorts := int64(0)
			exprs := append([]tree.Expr{r.Where}, r.Keys...)
			for _, p := range r.Parts {
				exprs = append(exprs, p.Arg)
				if p.Kind == tree.PartDistinct {
					sorts++
				}
			}
			if out = w.each(r.From, exprs, sorts); len(r.Keys) == 0 {
				out = load{rows: 1, met: 1}
			}
		case *tree.Window:
			exprs := []tree.Expr{r.Where}
			for _, o := range r.Calls {
				exprs = append(append(exprs, o.Arg, o.Otherwise), o.By...)
				for _, by := range o.Order {
					exprs = append(exprs, by.By)
				}
			}
			out = w.each(r.From, exprs, int64(len(r.Calls)))
		case *tree.Cut:
			w.must(r.Rows <= maxCutPerJoinableRow*joinable(r), "%d rows of a person are left, which is no cut", r.Rows)
			if out = w.rows(r.From); r.Rows < out.rows {
				out.rows, out.size = r.Rows, 0
			}
		default:
			w.fail("no relation that is known here")
		}
	})
	return out
}

// each derives the rows of a relation for each of which something is computed.
func (w *worker) each(from tree.Relation, exprs []tree.Expr, sorts int64) load {
	l := w.rows(from)
	if from.Unit() < 0 {
		return l
	}
	c := w.efforts(l.rows, exprs...)
	c.rows = max(c.rows, sorts*looksPerSort)
	w.checkBounded(from, l, c)
	l.size = addRows(l.size, c.size)
	return l
}

func (w *worker) union(u *tree.Union) load {
	var sum load
	for _, p := range u.Parts {
		l := w.rows(p)
		if n := int64(len(u.Parts)); n > maxFreeUnionParts && p.Unit() >= 0 {
			w.checkBounded(p.From, l, effort{rows: n})
		}
		sum = load{addRows(sum.rows, l.rows), addRows(sum.met, l.met), max(sum.size, l.size)}
	}
	return sum
}

func (w *worker) join(j *tree.Join) load {
	l, r, n := w.rows(j.L), w.rows(j.R), len(j.L.Fields())
	left, right := j.L.Unit() >= 0, j.R.Unit() >= 0
	switch {
	case left && !right:
		return w.beside(j.L, l, j, w.fanout(j.R, j.On, n))
	case right && !left:
		return w.beside(j.R, r, j, w.fanout(j.L, j.On, 0))
	case !left:
		return load{rows: w.most(j, nil), met: 1}
	}
	c := w.efforts(timesRows(l.rows, r.rows), j.On)
	met := timesRows(l.met, r.met)
	w.must(timesRows(met, addRows(1, c.public)) <= w.ds.Fanout(), "a row of a person meets %d public rows, and at most %d may be met", met,
		w.ds.Fanout())
	pairs := timesRows(l.rows, r.rows)
	if unique(j.L, j.On, 0) || unique(j.R, j.On, n) { // no row has two partners on that side
		pairs = max(l.rows, r.rows)
		w.checkBounded(j.L, load{l.rows, 1, l.size}, effort{rows: c.looks()})
		w.checkBounded(j.R, load{r.rows, 1, r.size}, effort{rows: c.looks()})
	} else if l.rows > 1 && r.rows > 1 {
		a, b := joinable(j.L), joinable(j.R)
		w.must(timesRows(pairs, max(1, c.looks())) <= max(4*timesRows(a, b), timesRows(max(a, b), looksPerJoinableRow)),
			"%d rows of a person are joined with %d of the same person, or with any number, and are not cut before", l.rows, r.rows)
	}
	if j.Full {
		pairs = max(pairs, addRows(l.rows, r.rows))
	}
	return load{pairs, met, addRows(addRows(l.size, r.size), c.size)}
}

// beside derives the pairs of private rows with public ones, of which each meets so many.
func (w *worker) beside(r tree.Relation, l load, j *tree.Join, n int64) load {
	c := w.efforts(timesRows(l.rows, n), j.On)
	met := timesRows(l.met, n)
	w.checkComputed(met, c.size)
	w.checkBounded(r, l, c.times(n))
	return load{timesRows(l.rows, n), met, addRows(l.size, c.size)}
}

// efforts derives what it takes to compute expressions for one of so many rows of a person.
func (w *worker) efforts(rows int64, exprs ...tree.Expr) (sum effort) {
	for _, e := range exprs {
		if e == nil {
			continue
		}
		c := w.efforts(rows, parts(e)...)
		if x, ok := e.(*tree.Exists); ok {
			c = w.existsEffort(x, rows)
		}
		sum = effort{addRows(sum.public, c.public), addRows(sum.rows, c.rows), addRows(sum.size, addRows(c.size, operations(e)))}
	}
	return sum
}

// operations counts one for each part of an expression, for each value of a list, and for each 64
// characters of a text.
func operations(e tree.Expr) int64 {
	n := int64(len(parts(e)))
	var long tree.Expr
	switch x := e.(type) {
	case *tree.Within:
		n++ // it is written twice, and so are some below
	case *tree.Arith:
		if x.Op == tree.Div || x.Op == tree.Quo || x.Op == tree.Rem {
			n++
		}
	case *tree.In:
		n += int64(len(x.List))
	case *tree.Like:
		long = x.X
	case *tree.Call:
		if len(x.Args) > 0 && (x.Typ.Kind == tree.Text || x.Args[0].Type().Kind == tree.Text) {
			long = x.Args[0]
		}
	}
	switch {
	case long == nil:
		return n
	case long.Type().Kind != tree.Text || long.Type().MaxLength == 0:
		return n + 4
	}
	return n + 1 + int64(long.Type().MaxLength)/64
}

// existsEffort derives what a subquery takes for one of so many rows of a person.
func (w *worker) existsEffort(e *tree.Exists, rows int64) effort {
	l := w.rows(e.From)
	inside := w.efforts(timesRows(rows, l.rows), e.On)
	if e.From.Unit() < 0 {
		n := w.fanout(e.From, e.On, e.Outer)
		w.checkComputed(n, inside.size)
		return inside.times(n)
	}
	w.checkBounded(e.From, load{l.rows, 1, l.size}, effort{rows: inside.looks()})
	n := int64(1)
	if rows > 1 && !hashed(e.On, e.Outer) { // all pairs of a person's rows are looked at
		n = l.rows
	}
	out := inside.times(n)
	out.public = inside.public
	return out
}

// hashed reports whether the rows of a subquery that fit are found by a table of hashes: what names
// the row that asks is that a field of it is equal to one of theirs.
func hashed(on tree.Expr, outer int) bool {
	for _, e := range conjuncts(on) {
		if !namesBelow(e, outer) {
			continue
		}
		eq, ok := e.(*tree.Compare)
		if !ok || eq.Op != tree.Eq {
			return false
		}
		a, ok1 := eq.L.(*tree.Column)
		b, ok2 := eq.R.(*tree.Column)
		if !ok1 || !ok2 || (a.Index < outer) == (b.Index < outer) {
			return false
		}
	}
	return true
}

// namesBelow reports whether an expression names one of the first fields of a row, also in
// subqueries, whose own fields come after those of the row that asks.
func namesBelow(e tree.Expr, n int) bool {
	switch e := e.(type) {
	case *tree.Column:
		return e.Index < n
	case *tree.Exists:
		return e.On != nil && namesBelow(e.On, min(n, e.Outer))
	}
	return slices.ContainsFunc(parts(e), func(p tree.Expr) bool { return namesBelow(p, n) })
}

// equalTo are the fields of a side, which begins at a place, that a condition says are equal to
// something of the other side.
func equalTo(r tree.Relation, on tree.Expr, from int) (fields []int) {
	own := func(i int) bool { return i >= from && i < from+len(r.Fields()) }
	for _, e := range conjuncts(on) {
		eq, ok := e.(*tree.Compare)
		if !ok || eq.Op != tree.Eq {
			continue
		}
		for _, sides := range [][2]tree.Expr{{eq.L, eq.R}, {eq.R, eq.L}} {
			if c := stored(sides[0]); c != nil && own(c.Index) && !names(sides[1], own) {
				fields = append(fields, c.Index-from)
			}
		}
	}
	return fields
}

// stored is the column that an expression has one value for each value of.
func stored(e tree.Expr) *tree.Column {
	for {
		scaled, ok := e.(*tree.Rescale)
		if !ok {
			c, _ := e.(*tree.Column)
			return c
		}
		e = scaled.X
	}
}

// unique reports whether at most one row of a side fits to a row of the other.
func unique(r tree.Relation, on tree.Expr, from int) bool {
	return slices.ContainsFunc(equalTo(r, on, from), func(i int) bool { return r.Fields()[i].Key })
}

// fanout is how many rows of a public relation one row beside it can meet.
func (w *worker) fanout(r tree.Relation, on tree.Expr, from int) int64 {
	return max(1, w.most(r, equalTo(r, on, from)))
}

// most is how many rows of a public relation are equal in some fields at most, or how many there
// are.
func (w *worker) most(r tree.Relation, fields []int) int64 {
	switch r := r.(type) {
	case *tree.Scan:
		var columns []string
		for _, i := range fields {
			if r.Row[i].Key {
				return 1
			}
			columns = append(columns, r.Row[i].Name)
		}
		if w.public == nil {
			return 1 // nobody runs it
		}
		n, err := w.public.Most(r.Table.Name, columns)
		w.must(err == nil, "a public table is not there")
		return n
	case *tree.Select:
		var below []int
		for _, i := range fields {
			if c := stored(r.Columns[i]); c != nil {
				below = append(below, c.Index)
			}
		}
		return w.most(r.From, below)
	case *tree.Union:
		n := int64(0)
		for _, p := range r.Parts {
			n = addRows(n, w.most(p, fields))
		}
		return n
	case *tree.Join:
		var sides [2][]int
		n := len(r.L.Fields())
		for _, i := range fields {
			if i < n {
				sides[0] = append(sides[0], i)
			} else {
				sides[1] = append(sides[1], i-n)
			}
		}
		out := timesRows(max(1, w.most(r.L, sides[0])), w.fanout(r.R, r.On, n))
		if !r.Left { // all rows of the left side are there otherwise
			out = min(out, timesRows(max(1, w.most(r.R, sides[1])), w.fanout(r.L, r.On, 0)))
		}
		return out
	}
	return unlimitedRows
}

// joinable is how many rows of one person the policy lets be joined, of all tables of a relation.
func joinable(r tree.Relation) int64 {
	n := int64(policy.MostJoined)
	switch r := r.(type) {
	case *tree.Scan:
		if !r.Table.Public {
			n = r.Table.Joined()
		}
	case *tree.Join:
		n = min(joinable(r.L), joinable(r.R))
	case *tree.Select:
		n = joinable(r.From)
	case *tree.Persons:
		n = joinable(r.From)
	case *tree.Window:
		n = joinable(r.From)
	case *tree.Cut:
		n = joinable(r.From)
	case *tree.Union:
		for _, p := range r.Parts {
			n = min(n, joinable(p))
		}
	}
	return n
}
