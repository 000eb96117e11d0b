package linear

import (
	"fmt"
	"slices"
)

// MaxSteps bounds the weights, and maxTable the number of weights that have to be stored for
// attributes that depend on each other.
const (
	MaxSteps = 1 << 30
	maxTable = 1 << 20
)

// Factor weighs cells by some of their attributes.
type Factor struct {
	// Attributes are places in the domain, rising. A factor without attributes is one weight for
	// all cells.
	Attributes []int
	// Weights has a whole number for each combination of values of the attributes, the last
	// attribute fastest.
	Weights []int64
}

// Query is a linear query in canonical form: the same weights, however they were written, are the
// same query with the same Key. It does not change.
type Query struct {
	domain  *Domain
	steps   int64
	scale   int64   // the greatest common divisor of all weights; 0 where nothing is selected
	groups  []group // by their first attributes
	touched []int   // the attributes of the groups, rising
	binary  bool    // whether all tables are of 0 and 1
	key     string
}

// group is a canonical factor.
type group struct {
	attributes []int
	weights    []int64
	selected   []int32 // the values that weigh something, where there is one attribute
}

// Query returns the product of factors, whose weights go from 0 to steps, which is 1 for
// predicates. Where all factors are of 0 and 1, and none is without attributes, the product is
// multiplied by steps: it selects whole people. No factor selects everything.
func (d *Domain) Query(steps int64, factors ...Factor) (*Query, error) {
	if steps < 1 || steps > MaxSteps {
		return nil, fmt.Errorf("%w: weights go up to %d steps, and 1 to %d are allowed", ErrQuery, steps, MaxSteps)
	}
	scale := steps
	var tables []table
	for _, f := range factors {
		if err := d.check(steps, f); err != nil {
			return nil, err
		}
		if len(f.Attributes) == 0 || !isBinary(f.Weights) {
			scale = 1
		}
		tables = append(tables, table{f.Attributes, f.Weights})
	}
	scale, tables, err := d.canonical(steps, scale, tables)
	if err != nil {
		return nil, err
	}
	return d.newQuery(steps, scale, tables), nil
}

func (d *Domain) check(steps int64, f Factor) error {
	n := 1
	for i, a := range f.Attributes {
		if a < 0 || a >= len(d.attributes) {
			return fmt.Errorf("%w: attribute %d is outside the domain, which has %d", ErrQuery, a, len(d.attributes))
		}
		if i > 0 && a <= f.Attributes[i-1] {
			return fmt.Errorf("%w: the attributes of a factor must rise, and %d comes after %d", ErrQuery, a, f.Attributes[i-1])
		}
		n *= d.size(a)
	}
	if len(f.Weights) != n {
		return fmt.Errorf("%w: a factor has %d weights, and its attributes have %d combinations of values", ErrQuery, len(f.Weights), n)
	}
	if n > maxTable {
		return tooLarge(n)
	}
	for _, w := range f.Weights {
		if w < 0 || w > steps {
			return fmt.Errorf("%w: the weight %d is not between 0 and %d", ErrQuery, w, steps)
		}
	}
	return nil
}

func tooLarge(n int) error {
	return fmt.Errorf("%w: it needs a table of %d weights, and at most %d are allowed; ask for fewer columns in one condition",
		ErrQuery, n, maxTable)
}

// Where returns the query that counts people whose values are among some, by attribute name. An
// attribute that is not named may have any.
func (d *Domain) Where(values map[string][]string) (*Query, error) {
	var factors []Factor
	for name := range values {
		i, ok := d.names[name]
		if !ok {
			return nil, fmt.Errorf("%w: there is no attribute %q: outside the domain", ErrQuery, name)
		}
		factors = append(factors, Factor{Attributes: []int{i}})
	}
	slices.SortFunc(factors, func(a, b Factor) int { return a.Attributes[0] - b.Attributes[0] })
	for k := range factors {
		i := factors[k].Attributes[0]
		a := d.attributes[i]
		factors[k].Weights = make([]int64, len(a.Values))
		for _, v := range values[a.Name] {
			j, ok := d.values[i][v]
			if !ok {
				return nil, fmt.Errorf("%w: attribute %q has no value %q: outside the domain", ErrQuery, a.Name, v)
			}
			factors[k].Weights[j] = 1
		}
	}
	return d.Query(1, factors...)
}

func (d *Domain) newQuery(steps, scale int64, tables []table) *Query {
	q := &Query{domain: d, steps: steps, scale: scale, binary: true}
	for _, t := range tables {
		g := group{attributes: t.attributes, weights: t.weights}
		if len(t.attributes) == 1 {
			for i, w := range t.weights {
				if w != 0 {
					g.selected = append(g.selected, int32(i))
				}
			}
		}
		q.groups = append(q.groups, g)
		q.touched = append(q.touched, t.attributes...)
		q.binary = q.binary && isBinary(t.weights)
	}
	slices.Sort(q.touched)
	q.key = q.digest()
	return q
}

// Key names the query within its domain: SHA-256 of its canonical form, 32 bytes.
func (q *Query) Key() string { return q.key }

// Steps is the weight that counts as one person.
func (q *Query) Steps() int64 { return q.steps }

func (q *Query) Domain() *Domain { return q.domain }

// Attributes are the places of the attributes that the weights depend on, rising. They are not to
// be changed.
func (q *Query) Attributes() []int { return q.touched }

// Level returns the only weight above 0 that the query has, and false where it has several. Nothing
// has the level 0.
func (q *Query) Level() (int64, bool) { return q.scale, q.binary }

// Everything says whether all cells have the same weight.
func (q *Query) Everything() bool { return len(q.groups) == 0 }

// Conjunction says whether the query selects a product of sets of values, one for each attribute.
func (q *Query) Conjunction() bool { return q.binary && len(q.groups) == len(q.touched) }

// Weight is the weight of a cell, given by the place of its value in each attribute.
func (q *Query) Weight(codes []int) int64 {
	w := q.scale
	for _, g := range q.groups {
		at := 0
		for _, a := range g.attributes {
			at = at*q.domain.size(a) + codes[a]
		}
		w *= g.weights[at]
	}
	return w
}

// Factors returns the canonical factors, for printing and for storing; Query of them is the query
// again.
func (q *Query) Factors() []Factor {
	var out []Factor
	for _, g := range q.groups {
		out = append(out, Factor{slices.Clone(g.attributes), slices.Clone(g.weights)})
	}
	switch {
	case q.binary && q.scale == q.steps, !q.binary && q.scale == 1:
		return out
	case q.binary:
		return append([]Factor{{Weights: []int64{q.scale}}}, out...)
	}
	// The scale goes into a table that has weights above 1 anyway, where it is easier to read.
	for _, f := range out {
		if !isBinary(f.Weights) {
			for i := range f.Weights {
				f.Weights[i] *= q.scale
			}
			break
		}
	}
	return out
}

// Complement weighs every cell with what it lacks to Steps. It fails where that needs too large a
// table: unlike the query itself it seldom is a product.
func (q *Query) Complement() (*Query, error) {
	n := q.domain.Size(q.touched)
	if n > maxTable {
		return nil, tooLarge(n)
	}
	weights := make([]int64, n)
	for i := range weights {
		weights[i] = q.steps
	}
	q.RunsOver(q.touched, func(from, to int, weight int64) {
		for i := from; i < to; i++ {
			weights[i] -= weight
		}
	})
	scale, tables, err := q.domain.canonical(q.steps, 1, []table{{q.touched, weights}})
	if err != nil {
		return nil, err
	}
	return q.domain.newQuery(q.steps, scale, tables), nil
}

// Single returns the weights of the values of an attribute, where the query has a table for it
// alone. They are not to be changed, and are to be multiplied by those of other attributes and by
// the scale.
func (q *Query) Single(attribute int) []int64 {
	for _, g := range q.groups {
		if len(g.attributes) == 1 && g.attributes[0] == attribute {
			return g.weights
		}
	}
	return nil
}

// Selected is the number of combinations of values of some attributes, with those of the query
// among them, that weigh something. Of tables over several attributes it counts all combinations.
func (q *Query) Selected(attributes []int) int {
	if q.scale == 0 {
		return 0
	}
	n := q.domain.Size(attributes)
	for _, g := range q.groups {
		if len(g.attributes) == 1 {
			n = n / len(g.weights) * len(g.selected)
		}
	}
	return n
}

// Runs visits the cells that weigh something, in rising order, as runs of neighbours with the same
// weight. It takes no time for cells that a conjunction leaves out.
func (q *Query) Runs(visit func(from, to int, weight int64)) { q.RunsOver(q.domain.all, visit) }

// RunsOver visits the combinations of values of some attributes, rising, with those of the query
// among them. They are numbered like cells of a domain that has no other attributes.
func (q *Query) RunsOver(attributes []int, visit func(from, to int, weight int64)) {
	if q.scale == 0 {
		return
	}
	w := walk{query: q, visit: visit}
	n := 1
	for k := len(attributes) - 1; k >= 0; k-- {
		n *= q.domain.size(attributes[k])
	}
	stride := n
	for _, a := range attributes {
		size := q.domain.size(a)
		stride /= size
		l := level{size: size, stride: stride, group: -1}
		for gi := range q.groups {
			g := &q.groups[gi]
			for i, o := range g.attributes {
				if o != a {
					continue
				}
				l.group, l.last = gi, i == len(g.attributes)-1
				if len(g.attributes) == 1 {
					l.weights, l.selected = g.weights, g.selected
				}
			}
		}
		w.levels = append(w.levels, l)
	}
	// Attributes at the end that the query does not look at make runs.
	for len(w.levels) > 0 && w.levels[len(w.levels)-1].group < 0 {
		w.levels = w.levels[:len(w.levels)-1]
	}
	if len(w.levels) == 0 {
		visit(0, n, q.scale)
		return
	}
	w.at = make([]int, len(q.groups))
	w.from = -1
	w.down(0, 0, q.scale)
	if w.from >= 0 {
		visit(w.from, w.to, w.last)
	}
}

// level is an attribute on the way down.
type level struct {
	size, stride int
	group        int // of the query, -1 where it does not look at the attribute
	last         bool
	weights      []int64 // where the group is of this attribute alone
	selected     []int32
}

type walk struct {
	query    *Query
	visit    func(from, to int, weight int64)
	levels   []level
	at       []int // where in the table of each group
	from, to int   // the run that may still grow; from is -1 where there is none
	last     int64
}

func (w *walk) down(depth, base int, weight int64) {
	l := &w.levels[depth]
	leaf := depth == len(w.levels)-1
	if l.weights != nil {
		for _, c := range l.selected {
			at := base + int(c)*l.stride
			if leaf {
				w.add(at, at+l.stride, weight*l.weights[c])
			} else {
				w.down(depth+1, at, weight*l.weights[c])
			}
		}
		return
	}
	for c := range l.size {
		next := weight
		var before int
		if l.group >= 0 {
			before = w.at[l.group]
			w.at[l.group] = before*l.size + c
			if l.last {
				next *= w.query.groups[l.group].weights[w.at[l.group]]
			}
		}
		if next != 0 {
			at := base + c*l.stride
			if leaf {
				w.add(at, at+l.stride, next)
			} else {
				w.down(depth+1, at, next)
			}
		}
		if l.group >= 0 {
			w.at[l.group] = before
		}
	}
}

func (w *walk) add(from, to int, weight int64) {
	if w.from >= 0 && w.to == from && w.last == weight {
		w.to = to
		return
	}
	if w.from >= 0 {
		w.visit(w.from, w.to, w.last)
	}
	w.from, w.to, w.last = from, to, weight
}
