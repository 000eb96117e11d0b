package publictime

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// queryWork adds up what a question takes: its rows, what is done with them, and its release.
type queryWork struct {
	*constants
	*cost
	sizes   Sizes
	rows    *estimator
	memory  float64
	cluster bool
	sql     bool // and nothing in package contribution
}

// addQuery adds what a query takes, and its release.
func (w *queryWork) addQuery(q *tree.Query) {
	if q.ListsKeys() {
		w.alone += float64(q.Groups()) * w.noise
		return
	}
	used := make([]bool, len(q.From.Fields()))
	markFields(q.Where, used)
	for _, k := range q.Keys {
		markFields(k.Expr, used)
	}
	for _, m := range q.Measures {
		markFields(m.Arg, used)
	}
	if q.From.Unit() >= 0 {
		used[q.From.Unit()] = true
	}
	w.sql = w.sql || q.Bounded() && slices.ContainsFunc(q.Measures, leftToSQL)
	before := *w.cost
	from := w.rows.relation(w.withoutCut(q.From), used)
	w.rows.expression(q.Where, from)
	length := 0.0
	for _, k := range q.Keys {
		n := w.rows.expression(k.Expr, from)
		w.each(from.rows, w.value+w.changed*n)
		length += n
	}
	for _, m := range q.Measures {
		w.rows.expression(m.Arg, from)
		w.each(from.rows, w.value)
	}
	reading := cost{alone: w.alone - before.alone, shared: w.shared - before.shared}
	switch {
	case q.Bounded() && w.sql:
		w.addStatements(q, from, reading, length)
	case q.Bounded():
		w.addPeople(q, from, reading, length)
	default:
		w.addSingles(q, from, reading, length)
	}
	w.addRelease(q, from)
}

// leftToSQL reports whether package contribution does not hold what a measure picks among a
// person's rows.
func leftToSQL(m tree.Measure) bool {
	if m.Kind != tree.CountDistinct && m.Kind != tree.Quantile {
		return false
	}
	switch t := m.Arg.Type(); t.Kind {
	case tree.Boolean, tree.Text:
		return false
	case tree.Number:
		return t.Wide()
	case tree.Date, tree.Timestamp:
		return t.Lo == nil || t.Hi == nil
	}
	return true
}

// withoutCut leaves out a cut that package contribution does without.
func (w *queryWork) withoutCut(r tree.Relation) tree.Relation {
	if c, ok := r.(*tree.Cut); ok && c.Sorted && !w.sql {
		return c.From
	}
	return r
}

// addReadings adds so many more readings of the rows.
func (w *queryWork) addReadings(reading cost, times float64) {
	w.alone += w.statement + reading.alone*max(0, times)
	w.shared += reading.shared * max(0, times)
}

// addPeople adds what package contribution does with rows of people who have many.
func (w *queryWork) addPeople(q *tree.Query, from load, reading cost, length float64) {
	readings, runs := 1.0, 0.0
	if len(q.PrivateKeys()) > 0 {
		readings, runs = 3, 1 // who keeps which groups, the groups, and what is in them
		w.each(from.rows, 3*(w.found+w.byte*length))
	}
	totals := len(q.PrivateKeys()) > 0
	for _, m := range q.Measures {
		switch m.Kind {
		case tree.CountDistinct:
			ns := w.chosen
			if m.Arg.Type().Kind == tree.Text {
				ns += 4 * w.group
			}
			w.each(from.rows, ns)
			runs++
		case tree.Quantile:
			w.each(from.rows, w.chosen)
			runs++
		default:
			totals = true
		}
	}
	if totals {
		runs++
	}
	passes := w.passes(q, from)
	w.addReadings(reading, readings*passes-1)
	w.alone += runs * w.begin
	who := w.byte * 4 * from.lengths[q.From.Unit()]
	w.each(from.rows*passes, w.handed*readings+(w.bounded+who)*runs)
}

// addStatements adds what SQL does with rows of people who have many: for each statement they are
// grouped by person and group, of which each person keeps some, and then by group.
func (w *queryWork) addStatements(q *tree.Query, from load, reading cost, length float64) {
	n := 0.0
	for _, m := range q.Measures {
		if m.Kind == tree.CountDistinct || m.Kind == tree.Quantile {
			n++
			w.each(from.rows, w.sort*math.Log2(max(2, from.rows))+2*w.group+w.taken)
		}
	}
	if n < float64(len(q.Measures)) || n == 0 {
		n++
	}
	if len(q.PrivateKeys()) > 0 && len(q.PublicKeys()) > 0 {
		n++
	}
	if q.Weighs() {
		n++
		w.alone += w.members(q, from) * w.result
	}
	w.addReadings(reading, n-1)
	w.alone += (n-1)*w.statement + n*w.combos(q, from)*float64(q.Groups())*w.result
	w.each(from.rows*n, 3*w.group+w.sort*math.Log2(max(2, from.rows))+w.byte*length+float64(len(q.PrivateKeys()))*w.taken)
}

// members is how many people there are, each as often as they are in a group.
func (w *queryWork) members(q *tree.Query, from load) float64 {
	return min(from.rows, w.sizes.people()*float64(q.MaxGroups()))
}

// passes is how often package contribution reads the rows, where they do not fit into its memory.
// What is of one person and group is added up before that, but for rows that are chosen among.
func (w *queryWork) passes(q *tree.Query, from load) float64 {
	held := w.sizes.people() * float64(q.Groups()) * w.combos(q, from)
	for _, m := range q.Measures {
		if m.Kind == tree.CountDistinct || m.Kind == tree.Quantile {
			held = from.rows
		}
	}
	row := 2 * (16 + 8*float64(len(q.Measures))) // blocks are half full
	if need := firstBlockBytes + min(from.rows, 2*held)*row; need > w.memory/2 {
		return min(maxPasses, math.Exp2(math.Ceil(math.Log2(2*need/w.memory))))
	}
	return 1
}

// firstBlockBytes is how many bytes the first blocks of all partitions take.
const firstBlockBytes = 4 << 20

// maxPasses is how many partitions package contribution has.
const maxPasses = 1 << 11

// addSingles adds what is done with rows of which nobody has two.
func (w *queryWork) addSingles(q *tree.Query, from load, reading cost, length float64) {
	own := 0.0 // statements of their own
	for _, m := range q.Measures {
		switch m.Kind {
		case tree.Quantile:
			own++
			w.each(from.rows, 2*w.group)
			w.alone += w.points(q, m, from) * w.result
		case tree.CountDistinct:
			own++
			w.each(from.rows, 2*w.group)
		}
	}
	if len(q.PrivateKeys()) > 0 {
		w.each(from.rows, w.group+w.byte*length)
		w.alone += w.combos(q, from) * float64(q.Groups()) * w.result
	}
	w.addReadings(reading, own)
	w.each(from.rows, w.handed)
}

// combos is how many combinations of private keys there are: as many as their columns have
// different values, as far as that is known.
func (w *queryWork) combos(q *tree.Query, from load) float64 {
	n := 1.0
	for _, k := range q.PrivateKeys() {
		n *= w.sizes.valuesOf(k.Expr, from)
	}
	if len(q.PrivateKeys()) > 0 {
		n = min(n, from.rows, w.sizes.people()*float64(q.MaxGroups()))
	}
	return n
}

// points is how many different values a quantile's argument has in all groups, at most.
func (w *queryWork) points(q *tree.Query, m tree.Measure, from load) float64 {
	lo, hi, ok := tree.QuantileRange(m.Arg)
	if !ok {
		return from.rows
	}
	return min(from.rows, (float64(hi)-float64(lo)+1)*float64(q.Groups())*w.combos(q, from))
}

// addRelease adds what is done with the exact numbers: noise on each of them, and quantiles among
// values.
func (w *queryWork) addRelease(q *tree.Query, from load) {
	groups := float64(q.Groups()) * w.combos(q, from)
	w.alone += groups * float64(max(1, len(q.Measures))) * w.noise
	if q.Choice != nil { // each round looks at all groups that are left
		w.alone += groups * float64(q.Choice.K) * w.noise
	}
	for _, m := range q.Measures {
		if m.Kind == tree.Quantile {
			points := w.points(q, m, from)
			w.alone += from.rows*w.ranked*math.Log2(max(2, points)) + 2*points*w.drawn*float64(max(1, len(m.At)))
		}
	}
}

// addTable adds what it takes to read rows to train on.
func (w *queryWork) addTable(t *tree.Table) {
	used := make([]bool, len(t.From.Fields()))
	markFields(t.Where, used)
	for _, c := range t.Columns {
		markFields(c.Expr, used)
	}
	if t.From.Unit() >= 0 {
		used[t.From.Unit()] = true
	}
	w.alone += w.statement
	from := w.rows.relation(w.withoutCut(t.From), used)
	w.rows.expression(t.Where, from)
	for _, c := range t.Columns {
		n := w.rows.expression(c.Expr, from)
		ns := w.value
		if c.Values != nil {
			ns += w.value + w.changed*n
		}
		w.each(from.rows, ns)
	}
	w.each(from.rows, w.handed)
	w.alone += from.rows * float64(len(t.Columns)) * w.operation // handed over one by one
	if w.cluster {
		w.alone += from.rows * w.result
	}
	if t.Bounded() {
		w.each(from.rows, w.bounded+w.chosen)
	}
}
