package verify

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

func (c *queryChecker) checkKey(in *scope, q *tree.Query, k tree.Key, why purpose) {
	f := c.exprs.expr(in, k.Expr)
	c.must(!f.derived && f.kind != tree.Identity && f.kind != tree.Real, "it is a real number, or says who or what a row is about")
	if k.Private {
		c.must(len(k.Values) == 0, "a private key with values")
		c.must(why == cells || mayBeFound(in, k.Expr), "its values are private, and the owner has not said that they may be found")
		c.must(why == cells || !c.ds.Budget.Pure(), "private keys on a pure budget")
		return
	}
	c.must(why != cells, "public values of a stream's cells")
	c.checkValues(f, k.Values)
	if col, ok := k.Expr.(*tree.Column); ok {
		c.checkListed(in.fields[col.Index], q, col, k.Values)
	}
}

// kinds are what the values of keys are called in a policy.
var kinds = map[tree.Kind]policy.Type{
	tree.Text: policy.Text, tree.Boolean: policy.Boolean, tree.Date: policy.Date, tree.Timestamp: policy.Timestamp,
	tree.Number: policy.Integer,
}

// checkValues checks that public values are of one kind, and each is there once: a group that is
// there twice would be counted in one of them.
func (c *queryChecker) checkValues(f fact, all []policy.Value) {
	c.must(len(all) > 0, "no values")
	want, rising := kinds[f.kind], true
	for i, v := range all {
		c.must(v.Null || v.Type == want || v.Type == policy.Decimal && f.kind == tree.Number, "a value that is %v for %v", v.Type, f.kind)
		rising = rising && (i == 0 || follows(all[i-1], v))
	}
	if rising { // as numbers are, of which there may be very many
		return
	}
	seen := make(map[policy.Value]bool, len(all))
	for _, v := range all {
		if v.Null {
			v = policy.Value{Null: true}
		}
		c.must(!seen[v], "a value that is there twice")
		seen[v] = true
	}
}

// follows reports whether a value comes after another in an order of all values of a kind, NULL
// last.
func follows(a, b policy.Value) bool {
	switch {
	case a.Null || b.Null:
		return !a.Null
	case a.Text != b.Text:
		return a.Text < b.Text
	}
	return a.Int < b.Int
}

// checkListed makes sure that the values of a private column are those that the policy lists, or
// the question.
func (c *queryChecker) checkListed(f field, q *tree.Query, col *tree.Column, values []policy.Value) {
	if f.source == nil || f.public != "" {
		return
	}
	known := map[policy.Value]bool{}
	for _, v := range f.source.PublicValues() {
		known[v] = true
	}
	var missing []policy.Value
	for _, v := range values {
		if !v.Null && !known[v] {
			missing = append(missing, v)
		}
	}
	below := slices.DeleteFunc(conditions(q.From), func(e tree.Expr) bool { _, constant := e.(*tree.Literal); return constant })
	all := append(slices.Clone(below), conjuncts(q.Where)...)
	if len(missing) == 0 || ranged(all, f.source) || slices.ContainsFunc(all, func(e tree.Expr) bool { return isPublicly(e, f.source) }) {
		return
	}
	for _, v := range missing {
		named := inWhere(conjuncts(q.Where), func(e tree.Expr) bool { return same(e, col) }, v) ||
			inWhere(below, func(e tree.Expr) bool { return isColumn(e, f.source) }, v)
		c.must(named, "a value of a private column that nobody has listed")
	}
}

// conditions are those that hold for all rows of a relation, and for rows below it that it is made
// of, or that have a partner in it.
func conditions(r tree.Relation) []tree.Expr {
	switch r := r.(type) {
	case *tree.Cut:
		return conditions(r.From)
	case *tree.Select:
		return append(conditions(r.From), conjuncts(r.Where)...)
	case *tree.Persons:
		return append(conditions(r.From), conjuncts(r.Where)...)
	case *tree.Window:
		return append(conditions(r.From), conjuncts(r.Where)...)
	case *tree.Join:
		return slices.Concat(conditions(r.L), conditions(r.R), conjuncts(r.On))
	case *tree.Union:
		var out []tree.Expr
		for _, p := range r.Parts {
			out = append(out, conditions(p)...)
		}
		return out
	}
	return nil
}

func isColumn(e tree.Expr, source *policy.Column) bool {
	c, ok := e.(*tree.Column)
	return ok && c.Field.Source == source
}

// isPublicly reports whether a condition says that a column is equal to something of public rows
// alone, of a table beside it or of one that is asked about: then its values are among theirs. What
// the owner has listed has no others, and what is marked as private keys is found, or named one by
// one. Which values a public table has nobody knows here, as of its own columns.
func isPublicly(e tree.Expr, source *policy.Column) bool {
	if source.Keys != policy.NoKeys {
		return false
	}
	if x, ok := e.(*tree.Exists); ok && x.From.Unit() < 0 {
		return slices.ContainsFunc(conjuncts(x.On), func(e tree.Expr) bool {
			return equal(e, source, func(c *tree.Column) bool { return c.Index >= x.Outer })
		})
	}
	return equal(e, source, func(c *tree.Column) bool { return c.Field.Public != "" })
}

// equal reports whether a condition compares a column with something that is made of some columns
// and of no others.
func equal(e tree.Expr, source *policy.Column, of func(*tree.Column) bool) bool {
	eq, ok := e.(*tree.Compare)
	if !ok || eq.Op != tree.Eq {
		return false
	}
	var made func(e tree.Expr) bool
	made = func(e tree.Expr) bool {
		if c, ok := e.(*tree.Column); ok {
			return of(c)
		}
		return len(parts(e)) > 0 && !asks(e) && !slices.ContainsFunc(parts(e), func(p tree.Expr) bool {
			_, constant := p.(*tree.Literal)
			return !constant && !made(p)
		})
	}
	return isColumn(eq.L, source) && made(eq.R) || isColumn(eq.R, source) && made(eq.L)
}

// ranged reports whether the question says where a number or a time lies, by a comparison with a
// constant: then it has listed all values in between. Texts are named one by one.
func ranged(all []tree.Expr, source *policy.Column) bool {
	if source.Type == policy.Text || source.Type == policy.Boolean || source.Keys == policy.PrivateKeys {
		return false
	}
	var has func(e tree.Expr) bool
	has = func(e tree.Expr) bool { return isColumn(e, source) || slices.ContainsFunc(parts(e), has) }
	var compares func(e tree.Expr) bool
	compares = func(e tree.Expr) bool {
		switch e := e.(type) {
		case *tree.Compare:
			return has(e.L) && !has(e.R)
		case *tree.In:
			return has(e.X)
		}
		return slices.ContainsFunc(parts(e), compares)
	}
	return slices.ContainsFunc(all, compares)
}

// inWhere reports whether one of some conditions compares a column with a value.
func inWhere(all []tree.Expr, col func(tree.Expr) bool, v policy.Value) bool {
	is := func(l *tree.Literal) bool {
		switch {
		case l.Text != nil:
			return v.Type == policy.Text && *l.Text == v.Text
		case l.Bool != nil:
			return v.Type == policy.Boolean && *l.Bool == v.Bool()
		case l.Days != nil:
			return v.Type == policy.Date && *l.Days == v.Int
		case l.Micros != nil:
			return v.Type == policy.Timestamp && *l.Micros == v.Int
		}
		return l.Number != nil && l.Number.IsInt64() && l.Number.Int64() == v.Int
	}
	for _, e := range all {
		switch e := e.(type) {
		case *tree.Literal:
			if e.Bool == nil || !*e.Bool {
				return true // it holds for no row, so every group is empty
			}
		case *tree.Compare:
			if l, ok := e.R.(*tree.Literal); ok && e.Op == tree.Eq && col(e.L) && is(l) {
				return true
			}
		case *tree.In:
			if col(e.X) && slices.ContainsFunc(e.List, is) {
				return true
			}
		case *tree.Column:
			if col(e) && v.Type == policy.Boolean {
				return true
			}
		case *tree.Not:
			if col(e.X) && v.Type == policy.Boolean {
				return true
			}
		}
	}
	return false
}

// mayBeFound reports whether the owner has said of each column of an expression that its values are
// public, or may be released when enough people have them.
func mayBeFound(in *scope, e tree.Expr) bool {
	if asks(e) {
		return false
	}
	if col, ok := e.(*tree.Column); ok {
		f := in.fields[col.Index]
		return f.source != nil && (f.source.Keys == policy.PrivateKeys || f.public != "" || f.source.CountPublicValues() > 0)
	}
	return !slices.ContainsFunc(parts(e), func(p tree.Expr) bool { return !mayBeFound(in, p) })
}
