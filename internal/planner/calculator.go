package planner

import (
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// calculator does with expressions what planning does over and over, and counts it before it is
// done. Without a meter, for a question of constants alone, nothing is counted.
type calculator struct {
	counts  *meter.Meter
	beyonds *beyondBounds // nil where nobody wants to know
}

func (c calculator) meter() *meter.Meter   { return c.counts }
func (c calculator) beyond() *beyondBounds { return c.beyonds }

func (c calculator) compute(x tree.Expr, leaf func(tree.Expr) tree.Value) tree.Value {
	return expr.Compute(c.meter(), x, leaf)
}

func (c calculator) spell(x tree.Expr) string {
	c.countWritten(x)
	return tree.Format(x)
}

// countWritten counts the work of writing an expression down.
func (c calculator) countWritten(x tree.Expr) {
	if x != nil {
		c.meter().Write(tree.Size(x) + expr.Texts(x))
	}
}

func (c calculator) spellMeasure(m tree.Measure) string {
	c.countWritten(m.Arg)
	return m.Format()
}

func (c calculator) spellPart(p tree.Part) string {
	c.countWritten(p.Arg)
	return p.Format()
}

func (c calculator) spellOver(o tree.Over) string {
	for _, x := range append([]tree.Expr{o.Arg, o.Otherwise}, o.By...) {
		c.countWritten(x)
	}
	for _, x := range o.Order {
		c.countWritten(x.By)
	}
	return o.Format()
}

// normal is the normal form of an expression, and truth that of a condition.
func (c calculator) normal(x tree.Expr) tree.Expr { return expr.CountNormal(c.meter(), x) }
func (c calculator) truth(x tree.Expr) tree.Expr  { return expr.CountTruth(c.meter(), x) }

// countNode counts what was done to build a node: all below it was looked at, and a pattern was
// read.
func countNode(m *meter.Meter, e tree.Expr) {
	n := tree.Size(e)
	m.Work(n, meter.Node)
	m.Build(meter.Number)
	if c, ok := e.(*tree.Call); ok && c.Fn == "matches" {
		pattern := len(*c.Args[1].(*tree.Literal).Text)
		m.Work(pattern, meter.Compiled)
		m.Build(pattern * meter.CompiledBytes)
	}
}

// writesPerNode is how often a node is written.
const writesPerNode = 24

// QuerySize is how much there is to write of a query, but for the values of its keys.
func QuerySize(q *tree.Query) int {
	n := len(q.Measures)
	eachExpr(q.From, expressions(q), func(e tree.Expr) {
		n += 1 + expr.TextsOf(e)
		if in, ok := e.(*tree.In); ok {
			n += len(in.List)
		}
	})
	return n
}

func countChecks(m *meter.Meter, q *tree.Query) {
	values := 0
	for _, k := range q.Keys {
		values += len(k.Values)
	}
	m.Write(writesPerNode * QuerySize(q))
	m.Work(values, meter.Found)
	m.Build(values * meter.Number)
}

// eachExpr calls f for all expressions of a relation, and of some over it.
func eachExpr(from tree.Relation, over []tree.Expr, f func(tree.Expr)) {
	visit := func(e tree.Expr) {
		if e == nil {
			return
		}
		tree.Walk(e, func(e tree.Expr) {
			f(e)
			if x, ok := e.(*tree.Exists); ok {
				eachExpr(x.From, nil, f)
			}
		})
	}
	for _, e := range over {
		visit(e)
	}
	eachRelation(from, func(r tree.Relation) {
		switch r := r.(type) {
		case *tree.Join:
			visit(r.On)
		case *tree.Select:
			visit(r.Where)
			for _, e := range r.Columns {
				visit(e)
			}
		case *tree.Persons:
			visit(r.Where)
			for _, e := range r.Keys {
				visit(e)
			}
			for _, p := range r.Parts {
				visit(p.Arg)
			}
		case *tree.Window:
			visit(r.Where)
			for _, o := range r.Calls {
				visit(o.Arg)
				visit(o.Otherwise)
				for _, e := range o.By {
					visit(e)
				}
				for _, by := range o.Order {
					visit(by.By)
				}
			}
		}
	})
}

// eachRelation calls f for a relation and those that it is made of, without those of subqueries in
// conditions.
func eachRelation(r tree.Relation, f func(tree.Relation)) {
	f(r)
	switch r := r.(type) {
	case *tree.Join:
		eachRelation(r.L, f)
		eachRelation(r.R, f)
	case *tree.Select:
		eachRelation(r.From, f)
	case *tree.Union:
		for _, p := range r.Parts {
			eachRelation(p, f)
		}
	case *tree.Persons:
		eachRelation(r.From, f)
	case *tree.Window:
		eachRelation(r.From, f)
	case *tree.Cut:
		eachRelation(r.From, f)
	}
}

// expressions are those of a query that are not in what it is from.
func expressions(q *tree.Query) []tree.Expr {
	all := []tree.Expr{q.Where}
	for _, k := range q.Keys {
		all = append(all, k.Expr)
	}
	for _, m := range q.Measures {
		all = append(all, m.Arg)
	}
	return all
}

func tableExpressions(t *tree.Table) []tree.Expr {
	all := []tree.Expr{t.Where}
	for _, c := range t.Columns {
		all = append(all, c.Expr)
	}
	return all
}

func hasExists(e tree.Expr) bool {
	found := false
	tree.Walk(e, func(x tree.Expr) {
		_, ok := x.(*tree.Exists)
		found = found || ok
	})
	return found
}

// equalPairs are what a condition says to be equal, both ways.
func equalPairs(c tree.Expr) [][2]tree.Expr {
	if eq, ok := c.(*tree.Compare); ok && eq.Op == tree.Eq {
		return [][2]tree.Expr{{eq.L, eq.R}, {eq.R, eq.L}}
	}
	if x, list := expr.Constants(c); len(list) == 1 {
		return [][2]tree.Expr{{x, list[0]}}
	}
	return nil
}

// fieldOf is the field that an expression tells apart: two rows with one value of the expression
// have one value of the field.
func fieldOf(e tree.Expr) (int, bool) {
	switch e := e.(type) {
	case *tree.Column:
		return e.Index, true
	case *tree.Rescale:
		return fieldOf(e.X)
	}
	return 0, false
}

// maxRowSteps bounds one row's value in a sum: 2^53 steps, times a million rows of one
// person, times all rows a table can have, is far below the 2^127 of the sum.
var maxRowSteps = new(big.Int).Lsh(big.NewInt(1), 53)

// refuseUnsummable refuses what has no bounded, exact sum.
func refuseUnsummable(arg tree.Expr, name string, pos int32) error {
	t := arg.Type()
	switch {
	case t.Kind == tree.Real:
		return syntax.Refuse(syntax.Unsupported, pos,
			"round it first, as in round(x, 2), sum the parts and divide the answers, or ask the owner for a granularity in the policy",
			"%s needs exact numbers, but this is the result of a division or a decimal without granularity", name)
	case (t.Kind == tree.Date || t.Kind == tree.Timestamp) &&
		(name == "min" || name == "max" || name == "median" || strings.HasPrefix(name, "percentile")):
		return nil
	case t.Kind == tree.Text && (name == "min" || name == "max"):
		return syntax.Refuse(syntax.Private, pos,
			"count rows for each value if the values are public, as in SELECT "+tree.Describe(arg)+", COUNT(*) ... GROUP BY",
			"%s of a text would be the value of one person", name)
	case t.Kind == tree.Boolean:
		return syntax.Refuse(syntax.NoFunction, pos, "turn it into 1 and 0, as in "+name+"(CAST("+tree.Describe(arg)+" AS integer))",
			"%s needs numbers, but this is a boolean", name)
	case t.Kind != tree.Number:
		return syntax.Refuse(syntax.NoFunction, pos, "use COUNT, or a numeric column", "%s needs numbers, but this is %s", name,
			expr.Article(t.Kind))
	case !t.Declared:
		return syntax.Refuse(syntax.Private, pos, "ask the owner to add bounds: [lowest, highest] to the column in the policy",
			"%s needs a column with bounds, because the noise is proportional to the largest value one person can have", name)
	case expr.MaxAbs(t).Cmp(maxRowSteps) > 0:
		return syntax.Refuse(syntax.TooComplex, pos, "sum the columns one by one, or ask the owner for a coarser granularity",
			"the values of this %s could exceed 2^53 steps", name)
	case name != "sum" && t.Lo.Cmp(t.Hi) == 0:
		return syntax.Refuse(syntax.Unsupported, pos, "use something that differs between rows", "the values of this %s are all the same",
			name)
	}
	return nil
}
