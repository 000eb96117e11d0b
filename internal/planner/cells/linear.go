package cells

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Term is a linear query over the cells of a stream and what its answer is multiplied by.
type Term struct {
	Query  *linear.Query
	Weight int64
}

// What a question may have to be read as linear. It bounds the work, which is done before anything
// is paid.
const (
	maxLinearGroups = 1 << 10 // groups times measures
	maxLinearWork   = 1 << 20 // parts of expressions that are computed: a tenth of a second
	maxLinearCells  = 1 << 22 // weights that are written
	maxTerms        = 2       // different values, beside 0, of what is summed
	maxWeight       = 1 << 18 // the largest of them, so that sums of counts fit
)

// Linear says what a question is over the cells of a stream: for each measure and each group the
// terms that add up to it. It is false where the question is not a function of the cells, or where
// to find out takes too much of the meter; then it is asked as every other question.
//
// Let the question be over the stream's table, of which nobody has more than one row. A measure of
// a group is a sum over rows: of 1 where all conditions are true and the keys are those of the
// group, for counts, or of an argument there. If every condition, key and argument has one value on
// all rows of a cell, then so has what the row adds, and the measure is the sum over the cells of
// that value times the number of rows in it, which is the sum over the different values v of v
// times the count of rows that add v. Each of these counts is a predicate over cells.
//
// That an expression has one value on a cell is found out by computing it. A cell is a product of
// values, ranges and rests, one for each column. Of a range all points are tried; where the column
// is only compared with constants, its ends and the points beside the constants are enough, because
// between two constants every such comparison is the same. A rest, which is all values that the
// policy does not list, is told from listed values by = and IN, and not among itself: there the
// column may be compared with listed values and with NULL, and one value that is not listed stands
// for all of them.
//
// Conditions that have no column in common are factors of their own, so a conjunction of ten
// columns is ten short lists of weights and not their product.
func (g *Grid) Linear(m *meter.Meter, q *tree.Query) (out [][][]Term, ok bool) {
	done := m.Try(func() { out, ok = g.linear(m, q) })
	return out, done && ok
}

func (g *Grid) linear(m *meter.Meter, q *tree.Query) ([][][]Term, bool) {
	l := &linearReader{grid: g, meter: m}
	if !l.take(q) {
		return nil, false
	}
	groups := q.Groups()
	if groups*max(1, len(q.Measures)) > maxLinearGroups {
		return nil, false
	}
	out := make([][][]Term, len(q.Measures))
	for i, m := range l.measures {
		var ok bool
		if out[i], ok = l.measure(m, groups); !ok {
			return nil, false
		}
	}
	return out, true
}

// linearReader is a question that is being read as linear, over the fields of the stream's table.
type linearReader struct {
	grid     *Grid
	meter    *meter.Meter
	where    []tree.Expr
	keys     []tree.Key
	measures []tree.Measure
	work     int // parts of expressions computed so far
	cells    int // weights written so far
}

// take moves the question onto the stream's table, where it is about nothing else.
func (l *linearReader) take(q *tree.Query) bool {
	if len(q.PrivateKeys()) > 0 || q.Choice != nil || len(q.Measures) == 0 || q.Dataset != l.grid.dataset.Name {
		return false
	}
	l.where, l.keys, l.measures = expr.Conjuncts(q.Where), slices.Clone(q.Keys), slices.Clone(q.Measures)
	from := q.From
	for {
		s, ok := from.(*tree.Select)
		if !ok {
			break
		}
		below := func(e tree.Expr) tree.Expr {
			if e == nil {
				return nil
			}
			return expr.Replaced(e, func(x tree.Expr) tree.Expr {
				if c, ok := x.(*tree.Column); ok {
					return s.Columns[c.Index]
				}
				return nil
			})
		}
		for i, e := range l.where {
			l.where[i] = below(e)
		}
		l.where = append(slices.Clone(l.where), expr.Conjuncts(s.Where)...)
		for i := range l.keys {
			l.keys[i].Expr = below(l.keys[i].Expr)
		}
		for i := range l.measures {
			l.measures[i].Arg = below(l.measures[i].Arg)
		}
		from = s.From
	}
	scan, ok := from.(*tree.Scan)
	if !ok || scan.Table != l.grid.scan.Table {
		return false
	}
	for _, m := range l.measures {
		if m.Most != nil {
			return false // it is clamped where a cell is not
		}
		switch m.Kind {
		case tree.CountRows, tree.CountValues, tree.Sum:
		case tree.CountPersons:
			// A row without a person is a row, and nobody. The cells count rows.
			if !l.grid.named() {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// named reports whether every row has a person.
func (g *Grid) named() bool {
	if g.dataset.Unit.Row() {
		return true
	}
	c := g.scan.Table.Columns[g.scan.Table.UnitColumn]
	return c != nil && !c.Nullable
}

// dependentItem is an expression whose value has to follow from the cell, and what it is.
type dependentItem struct {
	expr tree.Expr
	kind itemKind
	key  int // of itemKey
}

type itemKind int

const (
	itemCondition itemKind = iota // counts where it is true
	itemKey                       // counts in the group that it is
	itemPresent                   // adds 1 where it is not NULL
	itemAmount                    // adds its steps, and nothing where it is NULL
)

func (l *linearReader) measure(m tree.Measure, groups int) ([][]Term, bool) {
	items := make([]dependentItem, 0, len(l.where)+len(l.keys)+1)
	for _, e := range l.where {
		items = append(items, dependentItem{expr: e})
	}
	for i, k := range l.keys {
		items = append(items, dependentItem{expr: k.Expr, kind: itemKey, key: i})
	}
	weight := int64(1) // of every row that counts, where no item says another
	if m.Arg != nil {
		kind := itemAmount
		if m.Kind != tree.Sum {
			kind = itemPresent
		}
		if conditions, v, ok := filter(m.Arg, kind); ok {
			weight = v
			for _, e := range conditions {
				items = append(items, dependentItem{expr: e})
			}
		} else {
			items = append(items, dependentItem{expr: m.Arg, kind: kind})
		}
	}
	parts, ok := l.split(items)
	if !ok {
		return nil, false
	}
	amounts := []int64{weight}
	for _, p := range parts {
		if !l.compute(p) {
			return nil, false
		}
		if p.adds {
			amounts = p.amounts
		}
	}
	out := make([][]Term, groups)
	for group := range out {
		for _, v := range amounts {
			query, ok := l.query(parts, l.group(group), v)
			if !ok {
				return nil, false
			}
			if v > maxWeight || v < -maxWeight {
				return nil, false
			}
			out[group] = append(out[group], Term{query, v})
		}
	}
	return out, true
}

// filter reads CASE WHEN c THEN constant END, which is what FILTER becomes, as conditions and what
// is added where they hold.
func filter(e tree.Expr, kind itemKind) (conditions []tree.Expr, weight int64, ok bool) {
	c, isCase := e.(*tree.Case)
	if !isCase || len(c.Whens) != 1 {
		return nil, 0, false
	}
	then, ok1 := c.Whens[0].Then.(*tree.Literal)
	otherwise, ok2 := c.Else.(*tree.Literal)
	if !ok1 || !ok2 || then.IsNullLiteral() {
		return nil, 0, false
	}
	if kind == itemPresent {
		return expr.Conjuncts(c.Whens[0].If), 1, otherwise.IsNullLiteral()
	}
	zero := otherwise.IsNullLiteral() || otherwise.Number != nil && otherwise.Number.Sign() == 0
	if !zero || then.Number == nil || !then.Number.IsInt64() || then.Number.Sign() == 0 {
		return nil, 0, false
	}
	return expr.Conjuncts(c.Whens[0].If), then.Number.Int64(), true
}

// group returns the places of a group's values among those of its keys.
func (l *linearReader) group(i int) []int {
	out := make([]int, len(l.keys))
	for k := len(l.keys) - 1; k >= 0; k-- {
		n := len(l.keys[k].Values)
		out[k], i = i%n, i/n
	}
	return out
}

// query returns the predicate of the rows that are in a group and add v.
func (l *linearReader) query(parts []*part, group []int, v int64) (*linear.Query, bool) {
	var factors []linear.Factor
	for _, p := range parts {
		fits := make([]bool, len(p.outcomes))
		for i, o := range p.outcomes {
			fits[i] = !p.adds || o.amount == v
			for k, at := range o.keys {
				fits[i] = fits[i] && group[p.keys[k]] == at
			}
		}
		weights := make([]int64, len(p.says))
		all := true
		for i, says := range p.says {
			if says >= 0 && fits[says] {
				weights[i] = 1
			} else {
				all = false
			}
		}
		if l.cells += len(weights); l.cells > maxLinearCells {
			return nil, false
		}
		switch {
		case all:
		case len(p.columns) == 0:
			return nil, false // a constant that leaves nobody; nothing is linear about it
		default:
			factors = append(factors, linear.Factor{Attributes: p.columns, Weights: weights})
		}
	}
	query, err := l.grid.Domain.Query(1, factors...)
	return query, err == nil
}

// LinearWhere reads a condition on the rows of the stream's table, or says why it is none that the
// stream can count.
func (g *Grid) LinearWhere(condition string, o planner.Options) (*linear.Query, error) {
	text := "SELECT COUNT(*) FROM " + quoteName(g.Stream.Table)
	if strings.TrimSpace(condition) != "" {
		text += " WHERE (" + condition + "\n)"
	}
	return g.LinearCount(text, o)
}

func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// LinearCount reads a SELECT of one count over the stream's table.
func (g *Grid) LinearCount(text string, o planner.Options) (*linear.Query, error) {
	const one = "ask for one COUNT without GROUP BY, as in SELECT COUNT(*) FROM table WHERE ..., or write only the condition"
	st, err := planner.Prepare(g.dataset, text, o)
	if err != nil {
		return nil, err
	}
	if st.Outer != nil || len(st.Plans) != 1 {
		return nil, syntax.Refuse(syntax.Unsupported, -1, one, "a question to a stream must have nothing around it")
	}
	p := st.Plans[0]
	r, plain := (*tree.Released)(nil), false
	if len(p.Columns) == 1 {
		r, plain = p.Columns[0].Expr.(*tree.Released)
	}
	if !plain || r.Part != tree.PartValue || p.Stats[r.Stat].Kind != tree.MeasureStat || len(p.Query.Keys) > 0 ||
		len(p.Query.Measures) != 1 || p.Having != nil || p.Limit != nil || p.Offset != 0 {
		return nil, syntax.Refuse(syntax.Unsupported, -1, one, "a question to a stream must be one count")
	}
	var terms [][][]Term
	ok := false
	err = meter.Run(func() error {
		terms, ok = g.Linear(o.Meter, &p.Query)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !ok || len(terms[0][0]) != 1 || terms[0][0][0].Weight != 1 {
		return nil, syntax.Refuse(syntax.Unsupported, -1, g.advice(), "this is not a count over the cells of the stream %s", g.Stream.Name)
	}
	return terms[0][0][0].Query, nil
}

// advice says what a stream can be asked about.
func (g *Grid) advice() string {
	var names []string
	for _, c := range g.columns {
		name := c.Name
		if c.ranges && slices.ContainsFunc(c.Bins, func(b policy.Bin) bool { return b.Hi > b.Lo }) {
			name += " (in whole ranges)"
		}
		names = append(names, name)
	}
	return "its columns are " + strings.Join(names, ", ") +
		", with the values that the policy lists; ask other questions in a separate SELECT"
}
