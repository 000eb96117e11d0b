package planner

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// publicValues are the values that an expression has in rows of a relation where conditions hold,
// as far as a public table says so: the expression is about one of its rows, or is a column that
// has to be equal to such an expression, in a join, in WHERE or in IN (SELECT ...). What is asked
// of that row alone narrows them. They follow from the question and from public rows, so they tell
// nothing about anybody; rows with other values are not there. NULL is among them only after a LEFT
// JOIN; null says that it may be there beside them.
func (df *domainFinder) publicValues(r tree.Relation, where tree.Expr, e tree.Expr) (values []policy.Value, null, ok bool) {
	if df.env.options.Public == nil {
		return nil, true, false
	}
	null = true
	values, ok = keySearch{df, map[fieldKey]bool{}, &null}.values(withoutNames(r), expr.Conjuncts(where), e)
	return values, null, ok
}

// keySearch goes down from a relation to a public table.
type keySearch struct {
	domains *domainFinder
	seen    map[fieldKey]bool // columns that were looked for, of which two may be equal to each other
	null    *bool             // whether NULL is possible beside the values that were found last
}

func (s keySearch) values(r tree.Relation, where []tree.Expr, e tree.Expr) ([]policy.Value, bool) {
	columns, simple := columnsOf(e)
	if !simple || len(columns) == 0 || s.markSeen(r, e) {
		return nil, false
	}
	switch r := r.(type) {
	case *tree.Scan:
		if r.Table.Public {
			return s.ofPublicTable(r, where, e)
		}
	case *tree.Cut:
		return s.values(r.From, where, e)
	case *tree.Join:
		return s.joined(r, where, e)
	case *tree.Select:
		if out, ok := s.values(r.From, conditionsBelow(r.Columns, where, r.Where), replaceFields(e, r.Columns)); ok {
			return out, true
		}
	case *tree.Persons:
		keys := append(make([]tree.Expr, 1), r.Keys...) // after the person
		if isOver(e, 1, len(keys)) {
			return s.values(r.From, conditionsBelow(keys, where, r.Where), replaceFields(e, keys))
		}
	case *tree.Window:
		n := len(r.From.Fields())
		if isOver(e, 0, n) {
			return s.values(r.From, append(conditionsOver(where, 0, n), expr.Conjuncts(r.Where)...), e)
		}
	}
	return s.fromEqual(r, where, e)
}

// markSeen reports whether a column was looked for before, and notes it.
func (s keySearch) markSeen(r tree.Relation, e tree.Expr) bool {
	c, ok := e.(*tree.Column)
	if !ok {
		return false
	}
	key := fieldKey{r, c.Index}
	before := s.seen[key]
	s.seen[key] = true
	return before
}

// joined looks for an expression on one side of a join. What On says holds for all rows, and where
// rows of the left side are kept without a partner, for the right side of the others, of which the
// values are.
func (s keySearch) joined(j *tree.Join, where []tree.Expr, e tree.Expr) ([]policy.Value, bool) {
	if j.Full {
		return nil, false
	}
	n, upto := len(j.L.Fields()), len(j.Row)
	on := slices.Concat(where, expr.Conjuncts(j.On))
	if !j.Left {
		where = on
	}
	switch {
	case isOver(e, 0, n):
		if out, ok := s.values(j.L, conditionsOver(where, 0, n), e); ok {
			return out, true
		}
	case isOver(e, n, upto):
		if out, ok := s.values(j.R, conditionsOver(on, n, upto), shiftFields(e, n)); ok {
			if j.Left { // and what it is in a row without a partner
				nothing := s.domains.env.compute(e, func(tree.Expr) tree.Value { return nil })
				out, *s.null = expr.SortedValues(append(slices.Clone(out), expr.KeyValue(nothing, e.Type()))), true
			}
			return out, true
		}
	}
	return s.fromEqual(j, where, e)
}

// fromEqual looks for what a column has to be equal to.
func (s keySearch) fromEqual(r tree.Relation, where []tree.Expr, e tree.Expr) ([]policy.Value, bool) {
	c, ok := e.(*tree.Column)
	if !ok {
		return nil, false
	}
	for _, cond := range where {
		if x, ok := cond.(*tree.Exists); ok {
			if out, ok := s.fromExists(x, c); ok {
				return out, true
			}
			continue
		}
		for _, side := range equalPairs(cond) {
			if !isField(side[0], c.Index) {
				continue
			}
			if out, ok := s.values(r, where, side[1]); ok {
				*s.null = true
				return out, true
			}
		}
	}
	return nil, false
}

// fromExists looks for what a column has to be equal to in a row of a public subquery.
func (s keySearch) fromExists(x *tree.Exists, c *tree.Column) ([]policy.Value, bool) {
	if tree.Private(x.From) || c.Index >= x.Outer {
		return nil, false
	}
	n, upto := x.Outer, x.Outer+len(x.From.Fields())
	on := expr.Conjuncts(x.On)
	for _, cond := range on {
		for _, side := range equalPairs(cond) {
			if isField(side[0], c.Index) && isOver(side[1], n, upto) {
				if out, ok := s.values(withoutNames(x.From), conditionsOver(on, n, upto), shiftFields(side[1], n)); ok {
					*s.null = true
					return out, true
				}
			}
		}
	}
	return nil, false
}

// ofPublicTable are the values of an expression in the rows of a public table where conditions
// hold. Of a column alone they are those of the column, and of a table with too many rows too.
func (s keySearch) ofPublicTable(t *tree.Scan, where []tree.Expr, e tree.Expr) ([]policy.Value, bool) {
	where = slices.DeleteFunc(slices.Clone(where), isUnsure)
	c, column := e.(*tree.Column)
	other := func(cond tree.Expr) bool { return !isAbout(cond, c) }
	var known domain
	if column {
		var err error
		if known, err = s.domains.ofSource(t.Row[c.Index]); err != nil {
			known.listed = false
		}
		for _, cond := range where {
			if known.listed && !other(cond) {
				known = s.domains.allowed(known, c, cond)
			}
		}
	}
	*s.null = !column || known.null
	if column && !slices.ContainsFunc(where, other) {
		return known.values, known.listed
	}
	isKey := true
	out, done := s.domains.try(func() (out []policy.Value, _ bool) {
		out, isKey = s.ofStoredRows(t, where, e)
		return out, true
	})
	switch {
	case !isKey:
		return nil, false
	case !done:
		return known.values, known.listed
	}
	if len(out) > 0 {
		*s.null = slices.ContainsFunc(out, func(v policy.Value) bool { return v.Null })
		out = slices.DeleteFunc(out, func(v policy.Value) bool { return v.Null })
	}
	if column && t.Row[c.Index].Source.Keys == policy.PublicKeys {
		out = intersect(known.values, append(out, policy.Value{Null: true}))
	}
	if len(out) > 0 {
		return out, len(out) <= maxGroups
	}
	return known.values, known.listed // a question about no group is still a question
}

// ofStoredRows computes an expression for the rows of a public table, NULL too; false where it is
// no key.
func (s keySearch) ofStoredRows(t *tree.Scan, where []tree.Expr, e tree.Expr) (out []policy.Value, ok bool) {
	for _, row := range s.domains.env.readPublic(t.Table) {
		s.domains.env.meter().Work(1, meter.Found)
		s.domains.env.meter().Build(meter.FoundBytes)
		leaf := func(x tree.Expr) tree.Value { return row[x.(*tree.Column).Index] }
		if slices.ContainsFunc(where, func(cond tree.Expr) bool { return s.domains.env.compute(cond, leaf) != true }) {
			continue
		}
		v := s.domains.env.compute(e, leaf)
		if n, ok := v.(*big.Int); ok && !n.IsInt64() {
			return nil, false
		}
		out = append(out, expr.KeyValue(v, e.Type()))
	}
	return expr.SortedValues(out), true
}

// only leaves out what is not among some values that are all that there can be. Where it was not
// listed before it is now, without NULL, which is a group only where somebody lists it.
func (k domain) only(values []policy.Value) domain {
	if k.listed {
		kept := intersect(k.values, values)
		if len(kept) > 0 {
			k.values = kept
		}
		return k
	}
	kept := slices.DeleteFunc(slices.Clone(values), func(v policy.Value) bool {
		return v.Null || k.bounded() && (v.Int < k.ends.Lo || v.Int > k.ends.Hi)
	})
	if len(kept) > 0 {
		k.values, k.listed = kept, true
	}
	return k
}

// intersect are the values that are among others too, whatever those say of their type.
func intersect(values, others []policy.Value) []policy.Value {
	type value struct {
		null bool
		text string
		int  int64
	}
	of := func(v policy.Value) value {
		if v.Null {
			return value{null: true}
		}
		return value{text: v.Text, int: v.Int}
	}
	known := make(map[value]bool, len(others))
	for _, v := range others {
		known[of(v)] = true
	}
	return slices.DeleteFunc(slices.Clone(values), func(v policy.Value) bool { return !known[of(v)] })
}

// isUnsure reports whether a condition cannot be computed here, to the last bit as an engine does.
func isUnsure(cond tree.Expr) bool {
	unsure := false
	tree.Walk(cond, func(x tree.Expr) {
		_, asks := x.(*tree.Exists)
		unsure = unsure || asks || x.Type().Kind == tree.Real
	})
	return unsure
}

// mostStoredRows is how many rows of a public table are looked at to find the values of keys.
const mostStoredRows = 1 << 15

// readPublic are the rows of a public table, once for all questions of a text; none where there are
// too many.
func (e *env) readPublic(t *policy.Table) [][]tree.Value {
	if rows, ok := e.publicRows[t.Name]; ok {
		return rows
	}
	e.publicRows[t.Name] = nil
	if n, err := e.options.Public.Most(t.Name, nil); err == nil && n <= mostStoredRows {
		if rows, err := e.options.Public.Rows(t.Name, mostStoredRows); err == nil {
			e.publicRows[t.Name] = rows
		}
	}
	return e.publicRows[t.Name]
}

// isOver reports whether an expression names fields from one place up to another, and no others.
func isOver(e tree.Expr, from, upto int) bool {
	columns, simple := columnsOf(e)
	outside := func(c *tree.Column) bool { return c.Index < from || c.Index >= upto }
	return simple && len(columns) > 0 && !slices.ContainsFunc(columns, outside)
}

// conditionsOver are the conditions that are over fields from one place up to another, as
// conditions over fields that begin there. A subquery counts the fields of the row that asks from
// the first one.
func conditionsOver(where []tree.Expr, from, upto int) (out []tree.Expr) {
	for _, c := range where {
		if x, ok := c.(*tree.Exists); ok && from == 0 && !tree.Private(x.From) {
			out = append(out, c)
		} else if isOver(c, from, upto) {
			out = append(out, shiftFields(c, from))
		}
	}
	return out
}

// shiftFields counts fields from another place on.
func shiftFields(e tree.Expr, from int) tree.Expr {
	return expr.Replaced(e, func(x tree.Expr) tree.Expr {
		if c, ok := x.(*tree.Column); ok {
			return &tree.Column{Index: c.Index - from, Field: c.Field}
		}
		return nil
	})
}

// conditionsBelow are conditions over some columns as conditions below them, and those that hold
// there by themselves.
func conditionsBelow(columns, where []tree.Expr, own tree.Expr) []tree.Expr {
	out := slices.Clone(expr.Conjuncts(own))
	for _, c := range where {
		names, simple := columnsOf(c)
		if simple && !slices.ContainsFunc(names, func(c *tree.Column) bool { return c.Index >= len(columns) || columns[c.Index] == nil }) {
			out = append(out, replaceFields(c, columns))
		}
	}
	return out
}

func replaceFields(e tree.Expr, columns []tree.Expr) tree.Expr {
	return expr.Replaced(e, func(x tree.Expr) tree.Expr {
		if c, ok := x.(*tree.Column); ok {
			return columns[c.Index]
		}
		return nil
	})
}
