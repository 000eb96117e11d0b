package interpret

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
)

// cross runs the parts of a FROM, given what is known already. A part is taken before others where
// a condition leads to it.
func cross(e *env, parts []*node, base []datum.Tuple, where []*conjunct) ([][]datum.Tuple, error) {
	have := uint64(0)
	var before []*conjunct // conditions on no relation here
	var rest []*conjunct
	for _, c := range where {
		if c.refs == 0 {
			before = append(before, c)
		} else {
			rest = append(rest, c)
		}
	}
	e.row = base
	if ok, err := holds(e, before); err != nil || !ok {
		return nil, err
	}
	rows := [][]datum.Tuple{base}
	parts = append([]*node(nil), parts...)
	for len(parts) > 0 {
		pick := -1
		for i, p := range parts {
			if p.deps&^have != 0 {
				continue
			}
			if pick < 0 {
				pick = i
			}
			if have != 0 && linked(p, have, rest) || have == 0 && filtered(p, rest) {
				pick = i
				break
			}
		}
		if pick < 0 {
			return nil, Fail("42P10", "invalid reference to FROM-clause entry")
		}
		p := parts[pick]
		parts = append(parts[:pick], parts[pick+1:]...)
		inside, outside := split(rest, p.rtes)
		ready, later := split(outside, have|p.rtes)
		rest = later
		var err error
		if rows, err = combine(e, rows, p, false, inside, ready, base, nil); err != nil {
			return nil, err
		}
		have |= p.rtes
	}
	return rows, nil
}

// run returns the rows of a part, each with what base has. The conditions need nothing else.
func (n *node) run(e *env, base []datum.Tuple, where []*conjunct) ([][]datum.Tuple, error) {
	if n.left == nil {
		return n.scan(e, base, where)
	}
	leftWhere, rest := split(where, n.left.rtes)
	rightWhere, after := split(rest, n.right.rtes)
	leftOn, both := split(n.on, n.left.rtes)
	rightOn, both := split(both, n.right.rtes)
	first, second := n.left, n.right
	if n.kind == pg.JoinType_JOIN_RIGHT {
		first, second = n.right, n.left
		leftWhere, rightWhere, leftOn, rightOn = rightWhere, leftWhere, rightOn, leftOn
	}
	outer := n.kind != pg.JoinType_JOIN_INNER
	if outer {
		// Conditions of WHERE on the second side hold after NULLs were added.
		both, after = append(both, leftOn...), append(rightWhere, after...)
	} else {
		leftWhere = append(leftWhere[:len(leftWhere):len(leftWhere)], leftOn...)
		rightOn = append(rightWhere[:len(rightWhere):len(rightWhere)], rightOn...)
		both, after = append(both, after...), nil
		if second.deps&n.left.rtes == 0 && !filtered(first, leftWhere) && filtered(second, rightOn) { // the one that has fewer rows first
			first, second, leftWhere, rightOn = second, first, rightOn, leftWhere
		}
	}
	rows, err := first.run(e, base, leftWhere)
	if err != nil {
		return nil, err
	}
	return combine(e, rows, second, outer, rightOn, both, base, after)
}

// scan returns the rows of one relation.
func (n *node) scan(e *env, base []datum.Tuple, where []*conjunct) ([][]datum.Tuple, error) {
	e.row = base
	var out [][]datum.Tuple
	scratch := append([]datum.Tuple(nil), base...)
	try := func(t datum.Tuple) error {
		if err := e.run.step(1); err != nil {
			return err
		}
		scratch[n.rte] = t
		e.row = scratch
		ok, err := holds(e, where)
		if err != nil || !ok {
			return err
		}
		row, err := e.run.newRow(scratch)
		out = append(out, row)
		return err
	}
	if n.rel != nil {
		// An index answers column = something known.
		for _, c := range where {
			col, other := c.column(n.rte)
			if col == nil {
				continue
			}
			v, err := other.eval(e)
			if err != nil || v == nil {
				return nil, err
			}
			for _, t := range n.rel.Find(col.attr, datum.Key(nil, v)) {
				if err := try(t); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
	}
	tuples, err := n.tuples(e)
	if err != nil {
		return nil, err
	}
	for _, t := range tuples {
		if err := try(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newRow is a copy of a row of FROM.
func (r *run) newRow(from []datum.Tuple) ([]datum.Tuple, error) {
	if err := r.take(24*len(from) + 24); err != nil {
		return nil, err
	}
	return append([]datum.Tuple(nil), from...), nil
}

// joiner joins rows with a part of FROM.
type joiner struct {
	e     *env
	part  *node
	outer bool        // rows that meet none of the part are kept
	after []*conjunct // what holds at the end
	out   [][]datum.Tuple
}

// combine joins rows with a part. inside are conditions on the part alone, both those on the part
// and the rows, and after those that hold at the end.
func combine(e *env, rows [][]datum.Tuple, p *node, outer bool, inside, both []*conjunct, base []datum.Tuple,
	after []*conjunct) ([][]datum.Tuple, error) {
	j := &joiner{e: e, part: p, outer: outer, after: after}
	switch {
	case j.indexed(both):
		err := j.scanEach(rows, append(both[:len(both):len(both)], inside...))
		return j.out, err
	case p.deps != 0:
		err := j.scanEach(rows, append(inside[:len(inside):len(inside)], both...))
		return j.out, err
	}
	right, err := p.run(e, base, inside)
	if err == nil {
		err = j.meet(rows, right, both)
	}
	return j.out, err
}

// indexed says whether an index finds the rows of the part.
func (j *joiner) indexed(both []*conjunct) bool {
	p := j.part
	if p.left != nil || p.rel == nil || p.deps != 0 {
		return false
	}
	return slices.ContainsFunc(both, func(c *conjunct) bool {
		col, _ := c.column(p.rte)
		return col != nil
	})
}

// keep takes a row, where what holds at the end does.
func (j *joiner) keep(row []datum.Tuple) error {
	j.e.row = row
	ok, err := holds(j.e, j.after)
	if err != nil || !ok {
		return err
	}
	j.out = append(j.out, row)
	return j.e.run.spend(1, 24)
}

// scanEach runs the part once for each row.
func (j *joiner) scanEach(rows [][]datum.Tuple, where []*conjunct) error {
	for _, left := range rows {
		found, err := j.part.run(j.e, left, where)
		if err != nil {
			return err
		}
		if len(found) == 0 && j.outer {
			found = [][]datum.Tuple{left}
		}
		for _, row := range found {
			if err := j.keep(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// meet joins rows with those of the part. Equations between the two sides make a hash table.
func (j *joiner) meet(rows, right [][]datum.Tuple, both []*conjunct) error {
	mine, theirs, rest := j.equations(both)
	var table map[string][]int
	all := make([]int, len(right))
	for i := range right {
		all[i] = i
	}
	if len(mine) > 0 {
		table = map[string][]int{}
		for i, row := range right {
			k, ok, err := j.key(row, mine)
			if err != nil {
				return err
			}
			if ok {
				if err := j.e.run.take(len(k) + 48); err != nil {
					return err
				}
				table[k] = append(table[k], i)
			}
		}
	}
	for _, left := range rows {
		candidates := all
		if table != nil {
			k, ok, err := j.key(left, theirs)
			if err != nil {
				return err
			}
			candidates = nil
			if ok {
				candidates = table[k]
			}
		}
		if err := j.match(left, right, candidates, rest); err != nil {
			return err
		}
	}
	return nil
}

// equations splits the conditions into equations of the part with the rest, and others.
func (j *joiner) equations(both []*conjunct) (mine, theirs []*expr, rest []*conjunct) {
	for _, c := range both {
		q, rtes := c.eq, j.part.rtes
		switch {
		case q != nil && q.lrefs != 0 && q.lrefs&^rtes == 0 && q.rrefs&rtes == 0:
			mine, theirs = append(mine, q.l), append(theirs, q.r)
		case q != nil && q.rrefs != 0 && q.rrefs&^rtes == 0 && q.lrefs&rtes == 0:
			mine, theirs = append(mine, q.r), append(theirs, q.l)
		default:
			rest = append(rest, c)
		}
	}
	return mine, theirs, rest
}

// key is the key of some expressions of a row. There is none where one is NULL.
func (j *joiner) key(row []datum.Tuple, xs []*expr) (string, bool, error) {
	var b []byte
	j.e.row = row
	for _, x := range xs {
		if err := j.e.run.step(1); err != nil {
			return "", false, err
		}
		v, err := x.eval(j.e)
		if v == nil || err != nil {
			return "", false, err
		}
		b = datum.Key(b, v)
	}
	return string(b), true, nil
}

// match joins one row with the candidates of the part for which the other conditions hold.
func (j *joiner) match(left []datum.Tuple, right [][]datum.Tuple, candidates []int, rest []*conjunct) error {
	r := j.e.run
	matched := false
	scratch := append([]datum.Tuple(nil), left...)
	if err := r.step(1 + len(candidates)); err != nil {
		return err
	}
	for _, i := range candidates {
		for k, t := range right[i] {
			if j.part.rtes>>k&1 != 0 {
				scratch[k] = t
			}
		}
		j.e.row = scratch
		ok, err := holds(j.e, rest)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		matched = true
		row, err := r.newRow(scratch)
		if err != nil {
			return err
		}
		if err := j.keep(row); err != nil {
			return err
		}
	}
	if !matched && j.outer {
		return j.keep(left)
	}
	return nil
}

// conjunct is a condition and the relations that it needs.
type conjunct struct {
	x    *expr
	refs uint64
	eq   *equation
}

// conjuncts splits a condition at its ANDs.
func (b exprBinder) conjuncts(n *pg.Node, where string) ([]*conjunct, error) {
	if and := n.GetBoolExpr(); and != nil && and.Boolop == pg.BoolExprType_AND_EXPR {
		var out []*conjunct
		for _, a := range and.Args {
			c, err := b.conjuncts(a, where)
			if err != nil {
				return nil, err
			}
			out = append(out, c...)
		}
		return out, nil
	}
	b.scope.allowed.clause = where
	var x *expr
	var err error
	refs := b.scope.referred(func() { x, err = b.expr(n) })
	if err == nil {
		x, err = b.types.truth(x, where)
	}
	if err != nil {
		return nil, err
	}
	return []*conjunct{{x: x, refs: refs, eq: x.eq}}, nil
}

// holds reports whether all conditions are true for the row of e.
func holds(e *env, cs []*conjunct) (bool, error) {
	for _, c := range cs {
		if err := e.run.step(1); err != nil {
			return false, err
		}
		v, err := c.x.eval(e)
		if err != nil {
			return false, err
		}
		if v != datum.True {
			return false, nil
		}
	}
	return true, nil
}

// split returns the conditions that need only these relations, and the others.
func split(cs []*conjunct, rtes uint64) (inside, rest []*conjunct) {
	for _, c := range cs {
		// A condition that needs none is for the place it was written at.
		if c.refs != 0 && c.refs&^rtes == 0 {
			inside = append(inside, c)
		} else {
			rest = append(rest, c)
		}
	}
	return inside, rest
}

// linked reports whether a condition says that something in p equals something known.
func linked(p *node, have uint64, cs []*conjunct) bool {
	for _, c := range cs {
		if q := c.eq; q != nil && c.refs&p.rtes != 0 && c.refs&^(p.rtes|have) == 0 &&
			(q.lrefs&^p.rtes == 0 && q.rrefs&p.rtes == 0 || q.rrefs&^p.rtes == 0 && q.lrefs&p.rtes == 0) {
			return true
		}
	}
	return false
}

// filtered reports whether a condition is about p alone and says that something equals something.
func filtered(p *node, cs []*conjunct) bool {
	for _, c := range cs {
		if c.eq != nil && c.refs != 0 && c.refs&^p.rtes == 0 {
			return true
		}
	}
	return false
}

// column returns the side of column = other that is a plain column of a relation, where the other
// side needs nothing of it.
func (c *conjunct) column(rte int) (col, other *expr) {
	q := c.eq
	switch {
	case q == nil:
	case q.l.scope != nil && q.l.rte == rte && q.lrefs == 1<<rte && q.rrefs&(1<<rte) == 0:
		return q.l, q.r
	case q.r.scope != nil && q.r.rte == rte && q.rrefs == 1<<rte && q.lrefs&(1<<rte) == 0:
		return q.r, q.l
	}
	return nil, nil
}
