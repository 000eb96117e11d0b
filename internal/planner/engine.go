package planner

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// verdict is the first reason to refuse a question for its work.
type verdict struct {
	pos int32
	err error
}

func (v *verdict) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}

// engineCheck refuses what an engine cannot be asked, before it costs anything. It is found out
// from the finished tree, like all work.
type engineCheck struct {
	*verdict
	limits policy.EngineLimits
}

func (ec *engineCheck) check(from tree.Relation, over []tree.Expr) {
	ec.limitComparisons(from, over)
	ec.checkExpressions(from, over)
	ec.checkWindows(from)
}

// maxComparisons is how many times two values are compared of which neither is a literal.
const maxComparisons = 24

// limitComparisons refuses too many comparisons of two values: from each two DuckDB makes a third
// one when it plans, and 200 of them take it minutes, in which nobody can stop it.
func (ec *engineCheck) limitComparisons(from tree.Relation, over []tree.Expr) {
	n := 0
	eachExpr(from, over, func(e tree.Expr) {
		if c, ok := e.(*tree.Compare); ok && c.Equates() {
			n++
		}
	})
	if n > maxComparisons {
		ec.fail(syntax.Refuse(syntax.TooComplex, ec.pos, "compare fewer columns with each other",
			"%d conditions compare two columns, but at most %d "+
				"are allowed", n,
			maxComparisons))
	}
}

func (ec *engineCheck) checkExpressions(from tree.Relation, over []tree.Expr) {
	most := ec.limits
	if most == (policy.EngineLimits{}) {
		return
	}
	eachExpr(from, over, func(e tree.Expr) {
		if most.MaxDepth > 0 && printedDepth(e) > most.MaxDepth {
			ec.fail(syntax.Refuse(syntax.TooComplex, ec.pos, "nest fewer operations in each other",
				"a %s cluster reads an expression operation by operation, and these are nested too deeply for it", most.Name))
		}
		if left := most.MaxOperations; left > 0 && !compilable(e, &left) {
			ec.fail(syntax.Refuse(syntax.TooComplex, ec.pos, "write it with fewer operations",
				"a %s cluster compiles the expressions of a row, and these are too long for it", most.Name))
		}
		if x, ok := e.(*tree.Exists); ok && most.NoOuterExists && namesOuterRow(x) {
			ec.fail(syntax.Refuse(syntax.Unsupported, ec.pos, "compare it with the row of the subquery around it instead",
				"%s does not support an EXISTS inside EXISTS that refers to a row outside both", most.Name))
		}
		c, ok := e.(*tree.Call)
		if !ok || c.Fn != "matches" || !most.AutomatonPatterns {
			return
		}
		_, err := posix.NewAutomaton(*c.Args[1].(*tree.Literal).Text)
		if e := (*posix.Error)(nil); errors.As(err, &e) {
			ec.fail(syntax.Refuse(syntax.BadPattern, ec.pos, e.Instead, "%s", e.Reason))
		} else if err != nil {
			ec.fail(syntax.Refuse(syntax.Unsupported, ec.pos, "write a simpler pattern", "this pattern cannot be used"))
		}
	})
}

func (ec *engineCheck) checkWindows(from tree.Relation) {
	eachRelation(from, func(r tree.Relation) {
		window, ok := r.(*tree.Window)
		if !ok {
			return
		}
		for _, o := range window.Calls {
			if o.Kind == tree.PartDistinct && ec.limits.NoDistinctWindows {
				ec.fail(syntax.Refuse(syntax.Unsupported, ec.pos, "count a person's different values in a subquery grouped by the person",
					"%s has no COUNT(DISTINCT ...) OVER", ec.limits.Name))
			}
		}
	})
}

// namesOuterRow reports whether a subquery inside of this one names the row that this one is asked
// of.
func namesOuterRow(x *tree.Exists) (yes bool) {
	if x.On == nil {
		return false
	}
	tree.Walk(x.On, func(e tree.Expr) {
		if inner, ok := e.(*tree.Exists); ok && inner.On != nil {
			tree.Walk(inner.On, func(e tree.Expr) {
				c, ok := e.(*tree.Column)
				yes = yes || ok && c.Index < x.Outer
			})
		}
	})
	return yes
}

// compilable counts operations until none is left.
func compilable(e tree.Expr, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	for i, p := range tree.Parts(e) {
		for range expr.Copies(e, i) {
			if !compilable(p, left) {
				return false
			}
		}
	}
	return true
}

// printedDepth is how deep an expression gets where it is printed. A time is made, moved and taken
// apart again by functions in functions. A bracket counts as 1, CASE as 2, and a function as 3.
func printedDepth(e tree.Expr) int {
	most := 0
	for _, p := range tree.Parts(e) {
		most = max(most, printedDepth(p))
	}
	if c, ok := e.(*tree.Call); ok {
		for _, x := range append([]tree.Expr{e}, c.Args...) {
			if k := x.Type().Kind; k == tree.Date || k == tree.Timestamp {
				return most + 20
			}
		}
		return most + 7
	}
	return most + 4
}

// How long a statement gets that asks a cluster. A cluster refuses one that is too long for it, or
// ends with it, and both come after the charge: so a question is refused before. It is not printed
// for that, because how long it gets has to be known while it is still short: it is never less than
// what is printed, which a test of the engine holds it to.

// maxWritten is from how many characters on nothing more is counted: more than any engine takes
// ([policy.EngineLimits]). What WITH names counts as often as it is named.
const maxWritten = 4_000_000

// lengthCounter counts characters, and stops where there are too many.
type lengthCounter struct {
	n    int64
	read map[*policy.Column]bool // all that the question names
}

// What things take, in characters.
const (
	operationChars  = 80    // one part of an expression
	selectChars     = 500   // a SELECT around something
	listItemChars   = 36    // a value in a list, or an edge of an automaton
	keyChars        = 30    // a value of a key: a number and its place, or the place and twice the text
	columnChars     = 250   // a stored column as it is declared
	realColumnChars = 2_000 // the same of one that is rounded, or has a calendar
)

// limitLength refuses a query whose statements are too long for an engine.
func (ec *engineCheck) limitLength(written func() (longest, all int64)) {
	most := ec.limits.MaxStatement
	if most == 0 {
		return
	}
	if longest, all := written(); longest > most || all > 4*most {
		ec.fail(syntax.Refuse(syntax.TooComplex, ec.pos,
			"ask for less at once, with shorter lists and fewer operations, or group by a column with fewer values",
			"a statement for this question would be too long for a %s cluster", ec.limits.Name))
	}
}

// StatementLength is how many characters the longest statement of a query has at most, and all of
// them together.
func StatementLength(q *tree.Query) (longest, all int64) {
	apart := int64(2) // statements for private keys, which are there or not
	c := newLengthCounter(q.From, expressions(q)...)
	c.relation(q.From, 1, false)
	c.expr(q.Where, 1, false)
	for _, k := range q.Keys {
		c.expr(k.Expr, 1, false)
		c.n += selectChars + keyLength(k)
	}
	base := c.n
	for _, m := range q.Measures {
		c.n += selectChars
		c.expr(m.Arg, 1, false)
		if m.Kind == tree.Quantile || m.Kind == tree.CountDistinct {
			apart++
		}
	}
	return c.n, c.n + apart*base
}

// keyLength is what the values of a key take. Of numbers that are one step apart the ends are
// enough.
func keyLength(k tree.Key) (n int64) {
	var all []int64
	for _, v := range k.Values {
		n += keyChars + 2*int64(len(v.Text))
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

func tableLength(t *tree.Table) (longest, all int64) {
	c := newLengthCounter(t.From, tableExpressions(t)...)
	c.relation(t.From, 1, false)
	for _, e := range tableExpressions(t) {
		c.expr(e, 1, false)
		c.n += selectChars
	}
	return c.n, c.n
}

func newLengthCounter(from tree.Relation, over ...tree.Expr) *lengthCounter {
	c := &lengthCounter{read: map[*policy.Column]bool{}}
	eachExpr(from, over, func(e tree.Expr) {
		if x, ok := e.(*tree.Column); ok && x.Field.Source != nil {
			c.read[x.Field.Source] = true
		}
	})
	return c
}

// expr counts an expression that is written so many times. A computation is written for each
// outcome of the subqueries in it.
func (c *lengthCounter) expr(e tree.Expr, times int64, computed bool) {
	if e == nil || c.n > maxWritten {
		return
	}
	if !computed && tree.Computes(e) {
		times <<= tree.CountAsked(e)
		computed = true
	}
	size := int64(operationChars)
	switch e := e.(type) {
	case *tree.Literal:
		if e.Text != nil {
			size += 2 * int64(len(*e.Text))
		}
	case *tree.In:
		for _, l := range e.List {
			size += listItemChars
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
	return selectChars + int64(edges)*listItemChars
}

// relation counts what follows FROM. All says that every field of it is named.
func (c *lengthCounter) relation(r tree.Relation, times int64, all bool) {
	if c.n > maxWritten {
		return
	}
	c.n += times * (selectChars + int64(len(c.read))*listItemChars/2)
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
			c.n += times * selectChars
			c.expr(p.Arg, times, false)
		}
	case *tree.Window:
		c.relation(r.From, times, false)
		c.expr(r.Where, times, false)
		for _, o := range r.Calls {
			c.n += times * selectChars
			c.exprs(o.Expressions(), times)
		}
	case *tree.Cut:
		// It is named three times, and every field of it is in a hash.
		c.n += times * int64(len(r.Fields())) * columnChars
		c.relation(r.From, 3*times, true)
	}
}

func (c *lengthCounter) exprs(all []tree.Expr, times int64) {
	for _, e := range all {
		c.expr(e, times, false)
	}
}

// scan is what the columns of a table take that the question names, and its path.
func (c *lengthCounter) scan(t *policy.Table, all bool) int64 {
	n := int64(len(t.Path))*selectChars + int64(len(t.Relation))
	for name, column := range t.Columns {
		if !all && !c.read[column] {
			continue
		}
		n += columnChars + int64(len(name))*listItemChars
		if !spelledPlainly(column) {
			n += realColumnChars
		}
	}
	return n
}

// spelledPlainly reports whether a stored column is declared without rounding and without a
// calendar.
func spelledPlainly(c *policy.Column) bool {
	switch c.Type {
	case policy.Text, policy.Boolean:
		return true
	case policy.Integer:
		return c.Granularity.IsInt() && c.Granularity.Num().IsInt64() && c.Granularity.Num().Int64() == 1
	}
	return false
}
