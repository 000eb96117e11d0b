package plan

import (
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/posix"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// How long a statement gets that asks a cluster. A cluster refuses one that is too long for it, or
// ends with it, and both come after the charge: so a question is refused before. It is not printed
// for that, because how long it gets has to be known while it is still short: it is never less than
// what is printed, which a test of the engine holds it to.

// maxWritten is from how many characters on nothing more is counted: more than any engine takes
// ([policy.EngineLimits]). What WITH names counts as often as it is named.
const maxWritten = 4_000_000

// written counts characters, and stops where there are too many.
type written struct {
	n    int64
	read map[*policy.Column]bool // all that the question names
}

// What things take, in characters.
const (
	operation  = 80    // one part of an expression
	relation   = 500   // a SELECT around something
	named      = 36    // a value in a list, or an edge of an automaton
	key        = 30    // a value of a key: a number and its place, or the place and twice the text
	stored     = 250   // a stored column as it is declared
	storedReal = 2_000 // the same of one that is rounded, or has a calendar
)

// limitLength refuses a query whose statements are too long for an engine.
func (ec *engineCheck) limitLength(written func() (longest, all int64)) {
	most := ec.limits.MaxStatement
	if most == 0 {
		return
	}
	if longest, all := written(); longest > most || all > 4*most {
		ec.fail(syntax.Refuse(ec.pos, "ask for less at once, with shorter lists and fewer operations, or group by a column with fewer values",
			"a %s cluster is asked by statements, and one for this question would be too long for it", ec.limits.Name))
	}
}

// Written is how many characters the longest statement of a query has at most, and all of them
// together.
func Written(q *tree.Query) (longest, all int64) {
	apart := int64(2) // statements for private keys, which are there or not
	c := newWritten(q.From, expressions(q)...)
	c.relation(q.From, 1, false)
	c.expr(q.Where, 1, false)
	for _, k := range q.Keys {
		c.expr(k.Expr, 1, false)
		c.n += relation + listed(k)
	}
	base := c.n
	for _, m := range q.Measures {
		c.n += relation
		c.expr(m.Arg, 1, false)
		if m.Kind == tree.Quantile || m.Kind == tree.CountDistinct {
			apart++
		}
	}
	return c.n, c.n + apart*base
}

// listed is what the values of a key take. Of numbers that are one step apart the ends are enough.
func listed(k tree.Key) (n int64) {
	var all []int64
	for _, v := range k.Values {
		n += key + 2*int64(len(v.Text))
		if !v.Null && v.Type != policy.Text {
			all = append(all, v.Int)
		}
	}
	for i := 2; i < len(all); i++ {
		if all[i]-all[i-1] != all[1]-all[0] {
			return n
		}
	}
	if len(all) > 1 {
		return 0
	}
	return n
}

// tableWritten is Written for rows to train on.
func tableWritten(t *tree.Table) (longest, all int64) {
	c := newWritten(t.From, tableExpressions(t)...)
	c.relation(t.From, 1, false)
	for _, e := range tableExpressions(t) {
		c.expr(e, 1, false)
		c.n += relation
	}
	return c.n, c.n
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

func newWritten(from tree.Relation, over ...tree.Expr) *written {
	c := &written{read: map[*policy.Column]bool{}}
	eachExpr(from, over, func(e tree.Expr) {
		if x, ok := e.(*tree.Column); ok && x.Field.Source != nil {
			c.read[x.Field.Source] = true
		}
	})
	return c
}

// expr counts an expression that is written so many times. A computation is written for each
// outcome of the subqueries in it.
func (c *written) expr(e tree.Expr, times int64, computed bool) {
	if e == nil || c.n > maxWritten {
		return
	}
	if !computed && tree.Computes(e) {
		times <<= tree.CountAsked(e)
		computed = true
	}
	size := int64(operation)
	switch e := e.(type) {
	case *tree.Literal:
		if e.Text != nil {
			size += 2 * int64(len(*e.Text))
		}
	case *tree.In:
		for _, l := range e.List {
			size += named
			if l.Text != nil {
				size += 2 * int64(len(*l.Text))
			}
		}
	case *tree.Like:
		size += 10 * int64(len(e.Pattern))
	case *tree.Call:
		if e.Fn == "matches" {
			size += automatonSize(e)
		}
	case *tree.Exists:
		c.relation(e.From, times, false)
		computed = false
	}
	c.n += times * size
	for i, p := range tree.Parts(e) {
		c.expr(p, times*int64(expr.Copies(e, i)), computed)
	}
}

func automatonSize(e *tree.Call) int64 {
	a, err := posix.NewAutomaton(*e.Args[1].(*tree.Literal).Text)
	if err != nil {
		return 0 // it is refused
	}
	edges := 0
	for _, s := range a.States {
		edges += len(s.Edges) + 1
	}
	return relation + int64(edges)*named
}

// relation counts what follows FROM. All says that every field of it is named.
func (c *written) relation(r tree.Relation, times int64, all bool) {
	if c.n > maxWritten {
		return
	}
	c.n += times * (relation + int64(len(c.read))*named/2)
	switch r := r.(type) {
	case *tree.Scan:
		c.n += times * c.scan(r.Table, all)
	case *tree.Join:
		if r.Left && !r.Full && r.On != nil && (tree.CountAsked(r.On) > 0 || !r.Hashable()) {
			times *= 2 // those that have a partner, and those that have none
		}
		c.relation(r.L, times, all)
		c.relation(r.R, times, all)
		c.expr(r.On, times, false)
	case *tree.Select:
		c.relation(r.From, times, false)
		c.expr(r.Where, times, false)
		c.exprs(r.Columns, times)
	case *tree.Union:
		for _, p := range r.Parts {
			c.relation(p, times, false)
		}
	case *tree.Persons:
		c.relation(r.From, times, false)
		c.expr(r.Where, times, false)
		c.exprs(r.Keys, times)
		for _, p := range r.Parts {
			c.n += times * relation
			c.expr(p.Arg, times, false)
		}
	case *tree.Window:
		c.relation(r.From, times, false)
		c.expr(r.Where, times, false)
		for _, o := range r.Calls {
			c.n += times * relation
			c.exprs(o.Expressions(), times)
		}
	case *tree.Cut:
		// It is named three times, and every field of it is in a hash.
		c.n += times * int64(len(r.Fields())) * stored
		c.relation(r.From, 3*times, true)
	}
}

func (c *written) exprs(all []tree.Expr, times int64) {
	for _, e := range all {
		c.expr(e, times, false)
	}
}

// scan is what the columns of a table take that the question names, and its path.
func (c *written) scan(t *policy.Table, all bool) int64 {
	n := int64(len(t.Path))*relation + int64(len(t.Relation))
	for name, column := range t.Columns {
		if !all && !c.read[column] {
			continue
		}
		n += stored + int64(len(name))*named
		if column.Type != policy.Integer && column.Type != policy.Text && column.Type != policy.Boolean {
			n += storedReal
		}
	}
	return n
}
