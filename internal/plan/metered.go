package plan

import (
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// What planning does with expressions over and over is counted here, before it is done.

// meter is that of the text; nil, which counts nothing, for a question of constants alone.
func (e *env) meter() *meter.Meter {
	if e == nil {
		return nil
	}
	return e.options.Meter
}

// compute computes an expression.
func (e *env) compute(x tree.Expr, leaf func(tree.Expr) tree.Value) tree.Value {
	return expr.Compute(e.meter(), x, leaf)
}

// spell writes an expression in its canonical spelling.
func (e *env) spell(x tree.Expr) string {
	e.countWritten(x)
	return tree.Format(x)
}

// countWritten counts the work of writing an expression down.
func (e *env) countWritten(x tree.Expr) {
	if x != nil {
		e.meter().Write(tree.Size(x) + expr.Texts(x))
	}
}

func (e *env) spellMeasure(m tree.Measure) string {
	e.countWritten(m.Arg)
	return m.Format()
}

func (e *env) spellPart(p tree.Part) string {
	e.countWritten(p.Arg)
	return p.Format()
}

func (e *env) spellOver(o tree.Over) string {
	for _, x := range append([]tree.Expr{o.Arg, o.Otherwise}, o.By...) {
		e.countWritten(x)
	}
	for _, x := range o.Order {
		e.countWritten(x.By)
	}
	return o.Format()
}

// normal is the normal form of an expression, and truth that of a condition.
func (e *env) normal(x tree.Expr) tree.Expr { return expr.CountNormal(e.meter(), x) }
func (e *env) truth(x tree.Expr) tree.Expr  { return expr.CountTruth(e.meter(), x) }

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
