package planner

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// limit is in how many groups one person counts.
func (g *groups) limit(in *rowScope) (int64, error) {
	allowed := tree.AtMost(in.rows.PersonGroups())
	if in.rows.Single() {
		allowed = 1
	}
	limit := min(allowed, personFieldsIn(in.rows.Relation, in.filter).groups(g.keys))
	if m := in.env.options.MaxGroups; m > 0 {
		if m > allowed && !g.otherSets { // each set has its own limit
			return 0, syntax.Refuse(syntax.BadValue, -1, "set dp.max_groups to a number from 1 up to what the policy allows here",
				"in this question one person counts in at most %d groups", allowed)
		}
		limit = min(m, limit)
	}
	return limit, nil
}

// rowLimit is how many rows of one person count in one group.
func (g *groups) rowLimit(of rows) int64 {
	allowed := g.allowedRows(of)
	if m := g.maxRows; m > 0 {
		return min(m, allowed)
	}
	return allowed
}

// refuseMaxRows refuses a limit above the policy's, which would not be kept.
func (g *groups) refuseMaxRows(of rows) error {
	if most := tree.AtMost(of.PersonRows()); g.maxRows > most && !of.Single() {
		return syntax.Refuse(syntax.BadValue, -1, "set dp.max_rows to a number from 1 up to what the policy allows here",
			"in this question at most %d rows of one person count in a group", most)
	}
	return nil
}

// allowedRows is what rowLimit is where nobody wants less.
func (g *groups) allowedRows(of rows) int64 {
	if of.Single() {
		return 1
	}
	if apart, known := distinctFields(of.Relation); known && !slices.ContainsFunc(apart, func(f int) bool { return !g.hasField(f) }) {
		return 1 // a person has one row in each group
	}
	return tree.AtMost(of.PersonRows())
}

func (g *groups) hasField(field int) bool {
	return slices.ContainsFunc(g.keys, func(k tree.Key) bool {
		c, ok := k.Expr.(*tree.Column)
		return ok && c.Index == field
	})
}

// distinctFields are fields such that no two rows of one person are the same in all of them:
// without any, a person has one row. Nothing is known of most relations. It saves noise, and
// privacy does not rest on it: rows are cut to what is said.
func distinctFields(r tree.Relation) (out []int, known bool) {
	switch r := withoutNames(r).(type) {
	case *tree.Persons:
		same := personFieldsIn(r.From, r.Where)
		for i, e := range r.Keys {
			if same.differs(e) {
				out = append(out, 1+i)
			}
		}
		return out, true
	case *tree.Window:
		return distinctFields(r.From)
	case *tree.Select:
		below, known := distinctFields(r.From)
		for _, f := range below {
			at := slices.IndexFunc(r.Columns, func(e tree.Expr) bool {
				c, ok := e.(*tree.Column)
				return ok && c.Index == f
			})
			if at < 0 {
				return nil, false
			}
			out = append(out, at)
		}
		return out, known
	}
	return nil, false
}

// personFields says of each field of a relation whether it is a function of the person: the same in
// all rows of one. What is grouped by such fields alone has each person in one group.
//
// It follows from what the policy says of tables, a person who has one row in a table of their own
// and keys of public tables, and from equalities: what is equal to a function of the person is one,
// and so is the whole row that has it for a key. It saves noise, and privacy does not rest on it:
// who is in more groups nevertheless, because data is not as the policy says, is cut to the number
// that noise is calibrated to, which is one number ([tree.Query.MaxGroups]).
type personFields []bool

// personFieldsIn derives the fields of a relation in the rows where a condition is true.
func personFieldsIn(r tree.Relation, where tree.Expr) personFields {
	r = withoutNames(r)
	out := make(personFields, len(r.Fields()))
	if tree.Private(r) && r.Single() {
		return out.everything()
	}
	if u := r.Unit(); u >= 0 {
		out[u] = true
	}
	switch r := r.(type) {
	case *tree.Scan:
		for i, f := range r.Row { // the column that names the person, as it is declared
			out[i] = out[i] || f.Twin != 0 && i+f.Twin == r.UnitField
		}
	case *tree.Cut:
		copy(out, personFieldsIn(r.From, nil))
	case *tree.Select:
		below := personFieldsIn(r.From, r.Where)
		for i, e := range r.Columns {
			out[i] = below.holds(e)
		}
	case *tree.Join:
		copy(out, personFieldsOfJoin(r))
	case *tree.Persons:
		below := personFieldsIn(r.From, r.Where)
		for i, e := range r.Keys {
			out[1+i] = below.holds(e)
		}
		if !slices.Contains(out[:r.First()], false) {
			return out.everything() // one row, as without keys
		}
	case *tree.Window:
		below := personFieldsIn(r.From, r.Where)
		n := copy(out, below)
		for i, o := range r.Calls {
			out[n+i] = o.Framed() && o.Frame == tree.Everything && !slices.ContainsFunc(o.By, below.differs)
		}
	}
	out.follow(where, func(field int) bool { return out.take(r, field) })
	return out
}

// personFieldsOfJoin derives the fields of a join. What is the same in all rows of a person on one
// side stays so, and what On says to be equal follows. A row of the left side of an outer join may
// have a partner or none: where nothing but functions of the person decides that, all rows of a
// person have the same one or are all without, and elsewhere nothing is known of the right side. A
// FULL JOIN is on the person alone: all rows of a person have a partner, or all are of one side.
func personFieldsOfJoin(j *tree.Join) personFields {
	n := len(j.L.Fields())
	out := slices.Concat(personFieldsIn(j.L, nil), personFieldsIn(j.R, nil))
	if j.Full {
		return append(out, true)
	}
	if !j.Left {
		out.follow(j.On, func(field int) bool { return out.take(j, field) })
		return out
	}
	right := out[n:]
	decides := slices.Concat(out[:n], make(personFields, len(right)).everything())
	if j.On != nil && decides.differs(j.On) {
		clear(right)
		return out
	}
	out.follow(j.On, func(field int) bool { return field >= n && right.take(j.R, field-n) })
	return out
}

func (o personFields) everything() personFields {
	for i := range o {
		o[i] = true
	}
	return o
}

// follow takes the fields that conditions which hold say to be equal to functions of the person,
// until there are no more.
func (o personFields) follow(where tree.Expr, take func(field int) bool) {
	all := expr.Conjuncts(where)
	for again := true; again; {
		again = false
		for _, c := range all {
			for _, side := range equalPairs(c) {
				at, ok := fieldOf(side[0])
				if ok && side[0].Type().Kind != tree.Real && !o.differs(side[1]) && take(at) {
					again = true // 0 and -0 are equal, and are two numbers
				}
			}
		}
	}
}

// take notes that a field of a relation is the same, and not NULL: so is all of the row that it is
// a key of. It reports whether that was news.
func (o personFields) take(r tree.Relation, field int) bool {
	r = withoutNames(r)
	if r.Fields()[field].Key {
		news := slices.Contains(o, false)
		o.everything()
		return news
	}
	news := !o[field]
	o[field] = true
	if j, ok := r.(*tree.Join); ok {
		n := len(j.L.Fields())
		upto := n + len(j.R.Fields())
		switch {
		case field < n:
			return o[:n].take(j.L, field) || news
		case field < upto:
			return o[n:upto].take(j.R, field-n) || news
		}
	}
	return news
}

// holds reports whether an expression is a function of the person.
func (o personFields) holds(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Column:
		return o[e.Index]
	case *tree.Released:
		return false
	case *tree.Exists: // of public rows, or of the person's: what the row that asks adds decides
		same := true
		if e.On != nil {
			tree.Walk(e.On, func(x tree.Expr) {
				if c, ok := x.(*tree.Column); ok && c.Index < e.Outer {
					same = same && o[c.Index]
				}
			})
		}
		return same
	}
	return !slices.ContainsFunc(tree.Parts(e), o.differs)
}

// differs reports whether an expression may have several values in the rows of a person.
func (o personFields) differs(e tree.Expr) bool { return !o.holds(e) }

// groups is in how many groups of some keys a person is at most: those that are functions of the
// person tell none of them apart, and of the others there are as many as their public values have
// combinations.
func (o personFields) groups(keys []tree.Key) int64 {
	n := int64(1)
	for _, k := range keys {
		switch {
		case o.holds(k.Expr):
		case k.Private:
			return tree.MostRows
		default:
			n = tree.AtMost(n * int64(len(k.Values)))
		}
	}
	return n
}
