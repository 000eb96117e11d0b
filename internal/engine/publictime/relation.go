package publictime

import (
	"math"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// cost is what a question takes, in ns.
type cost struct {
	alone   float64 // by one thread
	shared  float64 // by all
	largest float64 // rows of the largest table
}

// each adds what is done for each of so many rows.
func (w *cost) each(rows, ns float64) { w.shared += rows * ns }

// estimator adds up what relations and expressions take.
type estimator struct {
	*constants
	*cost
	sizes   Sizes
	cluster bool
	chooses bool    // the database chooses which side of a join is put into a table of hashes
	equal   float64 // comparisons of two values
}

// load is what is known of a relation's rows.
type load struct {
	rows    float64
	person  float64   // of one person, at most
	met     float64   // how many public rows one of them has met, where that is more than one
	lengths []float64 // by field, of texts, in bytes
}

// pairSkew is by how much more pairs of a person's rows there are than if everybody had as many.
const pairSkew = 4

// relation adds what it takes to compute a relation of which some fields are used.
func (w *estimator) relation(r tree.Relation, used []bool) load {
	w.alone += w.constants.relation
	switch r := r.(type) {
	case *tree.Scan:
		return w.scan(r, used)
	case *tree.Join:
		return w.join(r, used)
	case *tree.Select:
		return w.selection(r, used)
	case *tree.Union:
		out := load{lengths: make([]float64, len(r.Fields()))}
		for _, p := range r.Parts {
			l := w.relation(p, used)
			w.addCarrying(r.Fields(), used, l)
			w.each(l.rows, w.handed)
			out.rows, out.person, out.met = out.rows+l.rows, out.person+l.person, max(out.met, l.met)
			for i, n := range l.lengths {
				out.lengths[i] = max(out.lengths[i], n)
			}
		}
		return out
	case *tree.Persons:
		return w.persons(r, used)
	case *tree.Window:
		return w.window(r, used)
	case *tree.Cut:
		return w.cut(r, used)
	}
	return load{rows: w.sizes.people(), person: 1, lengths: make([]float64, len(r.Fields()))}
}

// addCarrying adds what it takes to hand the used fields of each row on.
func (w *estimator) addCarrying(fields []tree.Field, used []bool, l load) {
	w.each(l.rows, w.carryingCost(fields, used, l.lengths))
}

// carryingCost is what the used fields of a row take to be handed on.
func (w *estimator) carryingCost(fields []tree.Field, used []bool, lengths []float64) float64 {
	ns := 0.0
	for i := range fields {
		if used[i] {
			ns += w.cell + w.byte*lengths[i]
		}
	}
	return ns
}

func (w *estimator) scan(s *tree.Scan, used []bool) load {
	l := load{rows: w.sizes.rowsOf(s.Table.Name), person: math.Inf(1), lengths: make([]float64, len(s.Row))}
	w.largest = max(w.largest, l.rows)
	if s.Single() {
		l.person = 1
	}
	ns := w.cell
	for i, f := range s.Row {
		if f.Type.Kind == tree.Text || f.Type.Kind == tree.Identity {
			l.lengths[i] = w.sizes.textLength(s, f)
		}
		if used[i] {
			ns += w.columnCost(f, l.lengths[i])
		}
	}
	w.each(l.rows, ns)
	if unit := s.Unit(); unit >= 0 && used[unit] {
		for k := range max(0, len(s.Table.Path)-1) { // each is a join with a table that is in between
			w.addHashJoin(w.sizes.rowsOf(s.Table.Path[k].Table), l.rows)
			w.each(l.rows, 2*w.handed)
		}
		for _, step := range s.Table.Path {
			w.each(w.sizes.rowsOf(step.Table), 2*w.cell)
		}
	}
	return l
}

// usualLength is for a text of which nothing is known.
const usualLength = 16

// columnCost is what it takes to read a column as it is declared.
func (w *estimator) columnCost(f tree.Field, length float64) float64 {
	ns := w.cell + w.stored*length
	switch f.Type.Kind {
	case tree.Number:
		if ns += 2 * w.operation; f.Type.Declared { // a clamp
			ns += w.branch
		}
		if f.Source != nil && !f.Type.Integer() { // a cast to a real number and back
			ns += 8 * w.operation
		}
	case tree.Date, tree.Timestamp:
		if ns += 3 * w.operation; f.Type.Declared {
			ns += w.branch
		}
	case tree.Real:
		ns += 2 * w.operation
	}
	return ns
}

func (w *estimator) selection(s *tree.Select, used []bool) load {
	below := make([]bool, len(s.From.Fields()))
	markFields(s.Where, below)
	for i, e := range s.Columns {
		if used[i] {
			markFields(e, below)
		}
	}
	from := w.relation(s.From, below)
	w.expression(s.Where, from)
	out := load{rows: from.rows, person: from.person, met: from.met, lengths: make([]float64, len(s.Columns))}
	if s.One {
		out.rows, out.person = min(out.rows, w.sizes.people()), 1
	}
	for i, e := range s.Columns {
		if used[i] {
			out.lengths[i] = w.expression(e, from)
		}
	}
	return out
}

func (w *estimator) persons(p *tree.Persons, used []bool) load {
	below := make([]bool, len(p.From.Fields()))
	below[p.From.Unit()] = true
	markFields(p.Where, below)
	for _, e := range p.Keys {
		markFields(e, below)
	}
	for _, part := range p.Parts {
		markFields(part.Arg, below)
	}
	from := w.relation(p.From, below)
	w.expression(p.Where, from)
	out := load{rows: min(from.rows, w.sizes.people()), person: 1, lengths: make([]float64, len(p.Row))}
	ns := w.group*cacheFactor(from.rows) + w.byte*from.lengths[p.From.Unit()]
	if len(p.Keys) > 0 {
		out.rows, out.person = from.rows, from.person
	}
	for i, e := range p.Keys {
		out.lengths[1+i] = w.expression(e, from)
		ns += w.compared + w.byte*out.lengths[1+i]
	}
	for i, part := range p.Parts {
		n := 0.0
		if part.Arg != nil {
			n = w.expression(part.Arg, from)
		}
		ns += 2*w.operation + w.byte*n
		switch part.Kind {
		case tree.PartDistinct:
			ns += 2 * w.group
		case tree.PartMin, tree.PartMax:
			out.lengths[p.First()+i] = n
			ns += w.text
		case tree.PartSum:
			ns += w.wide
		}
	}
	w.each(from.rows, ns)
	w.each(out.rows, w.group+float64(len(p.Parts))*(w.branch+w.operation))
	return out
}

func (w *estimator) window(r *tree.Window, used []bool) load {
	n := len(r.From.Fields())
	below := make([]bool, n)
	copy(below, used)
	below[r.Whose] = true
	for _, i := range r.Ties {
		below[i] = true
	}
	markFields(r.Where, below)
	for _, o := range r.Calls {
		for _, e := range o.Expressions() {
			markFields(e, below)
		}
	}
	from := w.relation(r.From, below)
	w.expression(r.Where, from)
	out := load{rows: from.rows, person: from.person, met: from.met}
	out.lengths = append(append(out.lengths, from.lengths...), make([]float64, len(r.Calls))...)
	order := math.Log2(max(2, from.rows))
	width := w.carryingCost(r.From.Fields(), below, from.lengths)
	ties := w.sort * float64(len(r.Ties))
	for _, i := range r.Ties {
		ties += w.sorted * from.lengths[i]
	}
	if r.Numbered(func(int) bool { return true }) {
		w.each(from.rows, w.sort*order+ties+2*width)
	}
	for i, o := range r.Calls {
		keys := w.sort
		for _, e := range append(append([]tree.Expr{}, o.By...), orderExprs(o)...) {
			keys += w.sort + w.sorted*w.expression(e, from)
		}
		if o.Ordered() {
			keys += ties
		}
		if o.Arg != nil {
			out.lengths[n+i] = w.expression(o.Arg, from)
		}
		if o.Otherwise != nil {
			w.expression(o.Otherwise, from)
		}
		sorting := w.group
		if len(o.Order) > 0 || o.Ordered() {
			sorting = w.sort*order + keys
		}
		w.each(from.rows, sorting+2*width+w.frameCost(o)+w.branch+w.stored*out.lengths[n+i])
	}
	return out
}

// frameCost is what it takes to compute a window's value for a row, beside the order.
func (w *estimator) frameCost(o tree.Over) float64 {
	switch {
	case !o.Framed():
		return w.group
	case o.Kind == tree.PartDistinct || !o.Frame.Start.Open:
		return 10 * w.group
	}
	return 3 * w.group
}

func orderExprs(o tree.Over) (out []tree.Expr) {
	for _, by := range o.Order {
		out = append(out, by.By)
	}
	return out
}

// cut adds what it takes to leave some rows of each person: to count each person's, to find who has
// too many, and to put those rows into an order, of which all fields are a part.
func (w *estimator) cut(c *tree.Cut, used []bool) load {
	all := make([]bool, len(c.From.Fields()))
	for i := range all {
		all[i] = true
	}
	before := w.shared
	from := w.relation(c.From, all)
	again := 0.0
	if _, ok := c.From.(*tree.Scan); ok {
		again = 2 * (w.shared - before) // it is read for each, and not kept
	}
	w.shared += again
	width := w.carryingCost(c.From.Fields(), all, from.lengths)
	w.each(from.rows, w.group+w.probe+2*w.handed+2*width)
	// Somebody may have too many, so all rows are looked up. Rows of people who have are sorted.
	many := min(1, pairSkew*from.rows/w.sizes.people()/float64(c.Rows))
	w.each(from.rows, w.probe)
	w.each(from.rows*many, w.build+w.sort*math.Log2(max(2, from.rows))+2*width)
	out := from
	out.person = min(out.person, float64(c.Rows))
	out.rows = min(out.rows, out.person*w.sizes.people())
	return out
}
