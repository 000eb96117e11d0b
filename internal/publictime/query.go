package publictime

import (
	"math"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// query adds what a query takes, and its release.
func (w *work) query(q *tree.Query) {
	if q.ListsKeys() {
		w.alone += float64(q.Groups()) * w.noise
		return
	}
	used := make([]bool, len(q.From.Fields()))
	mark(q.Where, used)
	for _, k := range q.Keys {
		mark(k.Expr, used)
	}
	for _, m := range q.Measures {
		mark(m.Arg, used)
	}
	if q.From.Unit() >= 0 {
		used[q.From.Unit()] = true
	}
	before := *w
	from := w.relation(q.From, used)
	w.expression(q.Where, from)
	length := 0.0
	for _, k := range q.Keys {
		n := w.expression(k.Expr, from)
		w.each(from.rows, w.place+w.changed*n)
		length += n
	}
	for _, m := range q.Measures {
		w.expression(m.Arg, from)
		w.each(from.rows, w.value)
	}
	reading := work{alone: w.alone - before.alone, shared: w.shared - before.shared}
	if q.Bounded() {
		w.many(q, from, reading, length)
	} else {
		w.singles(q, from, reading, length)
	}
	w.release(q, from)
}

// again adds so many more readings of the rows.
func (w *work) again(reading work, times float64) {
	w.alone += w.statement + reading.alone*max(0, times)
	w.shared += reading.shared * max(0, times)
}

// many adds what package bound does with rows of people who have many.
func (w *work) many(q *tree.Query, from load, reading work, length float64) {
	readings := 1.0
	if len(q.PrivateKeys()) > 0 {
		readings = 3 // who keeps which groups, the groups, and what is in them
		w.each(from.rows, 3*(w.found+w.byte*length))
	}
	passes := w.passes(q, from)
	jobs := 0.0
	for _, m := range q.Measures {
		if m.Kind == tree.CountDistinct || m.Kind == tree.Quantile {
			jobs++
			w.each(from.rows, w.chosen)
		}
	}
	w.again(reading, readings*passes-1)
	w.each(from.rows*passes, w.handed*readings+w.bounded*(readings+jobs))
}

// passes is how often package bound reads the rows, where they do not fit into its memory.
func (w *work) passes(q *tree.Query, from load) float64 {
	row := 16 + 8*float64(len(q.Measures))
	if need := from.rows * row; need > w.memory/2 {
		return math.Exp2(math.Ceil(math.Log2(2 * need / w.memory)))
	}
	return 1
}

// singles adds what is done with rows of which nobody has two.
func (w *work) singles(q *tree.Query, from load, reading work, length float64) {
	own := 0.0 // statements of their own
	for _, m := range q.Measures {
		switch m.Kind {
		case tree.Quantile:
			own++
			w.each(from.rows, 2*w.group)
			w.alone += from.rows * w.result
		case tree.CountDistinct:
			own++
			w.each(from.rows, 2*w.group)
		}
	}
	if len(q.PrivateKeys()) > 0 {
		w.each(from.rows, w.group+w.byte*length)
		w.alone += min(from.rows, w.people()) * w.result
	}
	w.again(reading, own)
	w.each(from.rows, w.handed)
}

// release adds what is done with the exact numbers: noise on each of them, and quantiles among
// values.
func (w *work) release(q *tree.Query, from load) {
	groups := float64(q.Groups())
	if len(q.PrivateKeys()) > 0 {
		groups *= min(from.rows, w.people()*float64(q.MaxGroups()))
	}
	w.alone += groups * float64(max(1, len(q.Measures))) * w.noise
	for _, m := range q.Measures {
		if m.Kind == tree.Quantile {
			w.alone += from.rows * w.ranked * math.Log2(max(2, from.rows))
		}
	}
}

// table adds what it takes to read rows to train on.
func (w *work) table(t *tree.Table) {
	used := make([]bool, len(t.From.Fields()))
	mark(t.Where, used)
	for _, c := range t.Columns {
		mark(c.Expr, used)
	}
	if t.From.Unit() >= 0 {
		used[t.From.Unit()] = true
	}
	w.alone += w.statement
	from := w.relation(t.From, used)
	w.expression(t.Where, from)
	for _, c := range t.Columns {
		n := w.expression(c.Expr, from)
		ns := w.value
		if c.Values != nil {
			ns += w.place + w.changed*n
		}
		w.each(from.rows, ns)
	}
	w.each(from.rows, w.handed)
	w.alone += from.rows * float64(len(t.Columns)) * w.operation // handed over one by one
	if t.Bounded() {
		w.each(from.rows, w.bounded+w.chosen)
	}
}
