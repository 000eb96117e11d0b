package plan

import (
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// calculator does with expressions what planning does over and over, and counts it before it is
// done. Without a meter, for a question of constants alone, nothing is counted.
type calculator struct{ counts *meter.Meter }

func (c calculator) meter() *meter.Meter { return c.counts }

func (c calculator) compute(x tree.Expr, leaf func(tree.Expr) tree.Value) tree.Value {
	return expr.Compute(c.meter(), x, leaf)
}

// spell writes an expression in its canonical spelling.
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
