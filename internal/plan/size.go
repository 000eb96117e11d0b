package plan

import (
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// countChecks counts the work of those who look at all of a finished statement after it was
// planned: it is checked once more, priced, looked for in memory, and written down for that.
func (s *Statement) countChecks(m *meter.Meter) {
	for _, p := range s.Plans {
		countChecks(m, &p.Query)
	}
	for _, c := range s.Cubes {
		countChecks(m, &c.Query)
	}
}

// looks is how often a node is written.
const looks = 24

// Size is how much there is to write of a query, but for the values of its keys.
func Size(q *tree.Query) int {
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
	m.Write(looks * Size(q))
	m.Work(values, meter.Found)
	m.Build(values * meter.Number)
}
