package verify

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// scope is the row that an expression is about.
type scope struct {
	fields  []field
	claimed []tree.Field // what the relations say of them
	cuts    []int        // see rows
}

func (r rows) scope(of tree.Relation) *scope { return &scope{r.fields, of.Fields(), r.cuts} }

func (s *scope) join(n int, r rows, of tree.Relation) *scope {
	out := &scope{fields: slices.Concat(s.fields[:n], r.fields), claimed: slices.Concat(s.claimed[:n], of.Fields())}
	// What stands on the left of IN asks about the row outside alone.
	out.cuts = append(slices.DeleteFunc(slices.Clone(s.cuts), func(k int) bool { return k > n }), len(out.fields))
	return out
}

func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// named spells what the values of a column name. Names may have dots in them, and then the parts
// are quoted.
func named(table, column string) string {
	if strings.Contains(table, ".") || strings.Contains(column, ".") {
		return fmt.Sprintf("%q.%q", table, column)
	}
	return table + "." + column
}

// checkCondition checks something that is true or false; nil stands for true.
func (c *exprChecker) checkCondition(s *scope, e tree.Expr) {
	if e != nil {
		c.must(c.expr(s, e).kind == tree.Boolean, "a condition that is not true or false")
	}
}

// expr derives what an expression is, and compares that with what it claims.
func (c *exprChecker) expr(s *scope, e tree.Expr) (out fact) {
	c.locate(e, func() {
		switch e := e.(type) {
		case *tree.Column:
			out = c.column(s, e)
		case *tree.Literal:
			out = c.literal(e)
		case *tree.Rescale:
			out = c.arithmetic.rescale(c.expr(s, e.X), e)
		case *tree.ToReal:
			out = c.arithmetic.toReal(c.expr(s, e.X), e)
		case *tree.Arith:
			out = c.arithmetic.arith(c.expr(s, e.L), c.expr(s, e.R), e)
		case *tree.Compare:
			out = c.compare(s, e)
		case *tree.Logic:
			c.must(e.Op == tree.And || e.Op == tree.Or, "no AND and no OR")
			out = c.conditions(s, e.Args...)
		case *tree.Not:
			out = c.conditions(s, e.X)
		case *tree.In:
			out = c.in(s, e)
		case *tree.IsNull:
			out = boolean()
			out.derived = c.expr(s, e.X).derived
		case *tree.Exists:
			out = c.exists(s, e)
		case *tree.Case:
			out = c.choice(s, e)
		case *tree.Call:
			out = c.call(s, e)
		case *tree.Within:
			out = c.restriction(c.expr(s, e.X), e)
		case *tree.Like:
			out = c.like(c.expr(s, e.X), e)
		default:
			c.fail("no expression that is known below the noise")
		}
		c.claim(e.Type(), out)
	})
	return out
}

// parts are the expressions directly below one, without those over other rows.
func parts(e tree.Expr) []tree.Expr {
	switch e := e.(type) {
	case *tree.Rescale:
		return []tree.Expr{e.X}
	case *tree.ToReal:
		return []tree.Expr{e.X}
	case *tree.Arith:
		return []tree.Expr{e.L, e.R}
	case *tree.Compare:
		return []tree.Expr{e.L, e.R}
	case *tree.Logic:
		return e.Args
	case *tree.Not:
		return []tree.Expr{e.X}
	case *tree.In:
		return []tree.Expr{e.X}
	case *tree.IsNull:
		return []tree.Expr{e.X}
	case *tree.Case:
		out := []tree.Expr{e.Else}
		for _, w := range e.Whens {
			out = append(out, w.If, w.Then)
		}
		return out
	case *tree.Call:
		return e.Args
	case *tree.Within:
		return []tree.Expr{e.X}
	case *tree.Like:
		return []tree.Expr{e.X}
	}
	return nil
}

// column is a field of the row, and is what the row has there.
func (c *exprChecker) column(s *scope, e *tree.Column) fact {
	c.must(e.Index >= 0 && e.Index < len(s.fields), "field %d of a row that has %d", e.Index, len(s.fields))
	own := s.fields[e.Index]
	said := s.claimed[e.Index]
	c.must(!own.lost, "field %d does not decide which of two rows comes first in a window, and is used", e.Index)
	c.must(sameType(e.Field.Type, said.Type), "field %d is claimed to be %v and is %v", e.Index, e.Field.Type, said.Type)
	c.must(e.Field.Name == said.Name || own.raw(), "field %d is claimed to be called %q and is called %q", e.Index, e.Field.Name, said.Name)
	c.must(e.Field.Source == own.source || e.Field.Source == nil && own.raw(),
		"field %d is claimed to be another column of the policy than it is", e.Index)
	c.must(e.Field.Public == own.public, "field %d is claimed to be of another public table than it is", e.Index)
	c.must(e.Field.Identity == own.identity || e.Field.Identity == "" && (e.Field.Derived || own.raw()),
		"field %d is claimed to name %q and names %q", e.Index, e.Field.Identity, own.identity)
	out := own.fact
	out.derived = own.about()
	return out
}

// literal is a constant, and is what its type says.
func (c *exprChecker) literal(e *tree.Literal) fact {
	t := e.Type()
	values := 0
	var out fact
	if e.Number != nil {
		values++
		c.must(t.Step != nil, "a number without a step")
		out = number(t.Step, e.Number, e.Number)
	}
	if e.Text != nil {
		values++
		out = text(utf8.RuneCountInString(*e.Text))
	}
	if e.Bool != nil {
		values++
		out = boolean()
	}
	if e.Days != nil {
		values++
		day := big.NewInt(*e.Days)
		out = fact{kind: tree.Date, lo: day, hi: day}
	}
	if e.Micros != nil {
		values++
		at := big.NewInt(*e.Micros)
		out = fact{kind: tree.Timestamp, lo: at, hi: at}
	}
	c.must(values <= 1, "a constant with several values")
	if values == 0 {
		return fact{kind: t.Kind, step: t.Step, never: true}
	}
	return out
}

func (c *exprChecker) conditions(s *scope, all ...tree.Expr) fact {
	out := boolean()
	c.must(len(all) > 0, "a condition of nothing")
	for _, e := range all {
		f := c.expr(s, e)
		c.must(f.kind == tree.Boolean, "a condition that is not true or false")
		out.derived = out.derived || f.derived
	}
	return out
}

// compare is a comparison of values of one kind and on one lattice. Identities are compared as they
// are stored, and only with the same.
func (c *exprChecker) compare(s *scope, e *tree.Compare) fact {
	l, r := c.expr(s, e.L), c.expr(s, e.R)
	switch e.Op {
	case tree.Eq, tree.Ne, tree.Lt, tree.Le, tree.Gt, tree.Ge, tree.Distinct, tree.NotDistinct:
	default:
		c.fail("no comparison that is known here")
	}
	c.checkComparable(l, r)
	if l.kind == tree.Identity {
		a, ok1 := e.L.(*tree.Column)
		b, ok2 := e.R.(*tree.Column)
		c.must(ok1 && ok2 && (e.Op == tree.Eq || e.Op == tree.Ne), "an identity is computed with")
		x, y := s.fields[a.Index].identity, s.fields[b.Index].identity
		c.must(x != "" && x == y, "identities of %q and %q are compared", x, y)
	}
	out := boolean()
	out.derived = l.derived || r.derived
	return out
}

// checkComparable makes sure that two values can be compared as they are printed.
func (c *trail) checkComparable(l, r fact) {
	c.must(l.kind == r.kind, "%v and %v are compared", l.kind, r.kind)
	c.must(l.kind != tree.Number || sameStep(l.step, r.step), "numbers in steps of %v and of %v are compared", l.step, r.step)
}

func (c *exprChecker) in(s *scope, e *tree.In) fact {
	x := c.expr(s, e.X)
	c.must(len(e.List) > 0 && x.kind != tree.Identity, "a list of nothing, or of identities")
	for _, l := range e.List {
		v := c.literal(l)
		c.must(!v.never, "NULL in a list")
		c.claim(l.Type(), v)
		c.checkComparable(x, v)
	}
	out := boolean()
	out.derived = x.derived
	return out
}

// exists is a subquery in a condition. The row that asks comes first, and then the inner row.
func (c *exprChecker) exists(s *scope, e *tree.Exists) fact {
	inner := c.relations.relation(e.From)
	c.must(slices.Contains(s.cuts, e.Outer), "the row that asks has %v fields, and %d are claimed", s.cuts, e.Outer)
	out := boolean()
	on := s.join(e.Outer, inner, e.From)
	if e.On != nil {
		f := c.expr(on, e.On)
		c.must(f.kind == tree.Boolean, "a condition that is not true or false")
		out.derived = f.derived
	}
	c.must(inner.unit < 0 || e.On != nil && linked(on, e.On, e.Outer), "it asks about rows of other people")
	return out
}

func (c *exprChecker) choice(s *scope, e *tree.Case) fact {
	derived := false
	var values []fact
	for _, w := range e.Whens {
		f := c.conditions(s, w.If)
		derived = derived || f.derived
		values = append(values, c.expr(s, w.Then))
	}
	out := c.hull(append(values, c.expr(s, e.Else)))
	c.must(out.kind != tree.Identity, "an identity is computed with")
	out.derived = out.derived || derived
	return out
}

// restriction is X where it is between two ends, and NULL elsewhere: an engine compares it with
// both, for every row.
func (c *exprChecker) restriction(x fact, e *tree.Within) fact {
	t, out := e.Type(), x
	switch x.kind {
	case tree.Real:
		c.must(t.Range != nil, "a real number without ends")
		out.low, out.high = max(x.low, t.Range.Low), min(x.high, t.Range.High)
		out.never = x.never || out.low > out.high
	case tree.Number, tree.Date, tree.Timestamp:
		c.must(t.Lo != nil && t.Hi != nil, "ends that are not there")
		if x.never {
			break
		}
		out.lo, out.hi = upper(x.lo, t.Lo), lower(x.hi, t.Hi)
		out.never = out.lo.Cmp(out.hi) > 0
	default:
		c.fail("%v has no ends", x.kind)
	}
	return out
}

func (c *exprChecker) like(x fact, e *tree.Like) fact {
	c.must(x.kind == tree.Text, "a pattern for %v", x.kind)
	c.must(len(e.Pattern) <= 250, "a pattern that is too long")
	out := boolean()
	out.derived = x.derived
	return out
}
