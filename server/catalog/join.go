package catalog

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

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
		if v != true {
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

func (r *run) newRow(from []tuple) ([]tuple, error) {
	if err := r.take(24*len(from) + 24); err != nil {
		return nil, err
	}
	return append([]tuple(nil), from...), nil
}

// cross runs the parts of a FROM, given what is known already. A part is taken before others where a condition leads to it.
func cross(e *env, parts []*node, base []tuple, where []*conjunct) ([][]tuple, error) {
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
	rows := [][]tuple{base}
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
			return nil, fail("42P10", "invalid reference to FROM-clause entry")
		}
		p := parts[pick]
		parts = append(parts[:pick], parts[pick+1:]...)
		inside, outside := split(rest, p.rtes)
		ready, later := split(outside, have|p.rtes)
		rest = later
		var err error
		if rows, err = combine(e, rows, p, pg.JoinType_JOIN_INNER, inside, ready, base, nil); err != nil {
			return nil, err
		}
		have |= p.rtes
	}
	return rows, nil
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

// run returns the rows of a part, each with what base has. The conditions need nothing else.
func (n *node) run(e *env, base []tuple, where []*conjunct) ([][]tuple, error) {
	if n.left == nil {
		return n.scan(e, base, where)
	}
	leftWhere, rest := split(where, n.left.rtes)
	rightWhere, after := split(rest, n.right.rtes)
	on := n.on
	var leftOn, rightOn, both []*conjunct
	leftOn, both = split(on, n.left.rtes)
	rightOn, both = split(both, n.right.rtes)
	switch n.kind {
	case pg.JoinType_JOIN_INNER:
		leftWhere = append(leftWhere[:len(leftWhere):len(leftWhere)], leftOn...)
		rightWhere = append(rightWhere[:len(rightWhere):len(rightWhere)], rightOn...)
		left, err := n.left.run(e, base, leftWhere)
		if err != nil {
			return nil, err
		}
		return combine(e, left, n.right, n.kind, rightWhere, append(both, after...), base, nil)
	case pg.JoinType_JOIN_LEFT:
		// Conditions of WHERE on the right side hold after NULLs were added.
		left, err := n.left.run(e, base, leftWhere)
		if err != nil {
			return nil, err
		}
		return combine(e, left, n.right, n.kind, rightOn, append(both, leftOn...), base, append(rightWhere, after...))
	case pg.JoinType_JOIN_RIGHT:
		right, err := n.right.run(e, base, rightWhere)
		if err != nil {
			return nil, err
		}
		return combine(e, right, n.left, pg.JoinType_JOIN_LEFT, leftOn, append(both, rightOn...), base, append(leftWhere, after...))
	case pg.JoinType_JOIN_FULL:
		left, err := n.left.run(e, base, nil)
		if err != nil {
			return nil, err
		}
		return combine(e, left, n.right, n.kind, nil, on, base, where)
	}
	return nil, unsupported("this kind of JOIN")
}

// scan returns the rows of one relation.
func (n *node) scan(e *env, base []tuple, where []*conjunct) ([][]tuple, error) {
	e.row = base
	var out [][]tuple
	scratch := append([]tuple(nil), base...)
	try := func(t tuple) error {
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
	if n.rel != nil && !n.rel.policy {
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
			rows := e.run.c.data(n.rel)
			for _, i := range e.run.c.lookup(n.rel, col.attr, key(nil, v)) {
				if err := try(rows[i]); err != nil {
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

// column returns the side of column = other that is a plain column of a relation, where the other side needs nothing of it.
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

// combine joins rows with a part. inside are conditions on the part alone, both those on the part and the rows, and after those that hold at the end.
func combine(e *env, rows [][]tuple, p *node, kind pg.JoinType, inside, both []*conjunct, base []tuple, after []*conjunct) ([][]tuple, error) {
	var out [][]tuple
	r := e.run
	keep := func(row []tuple) error {
		e.row = row
		ok, err := holds(e, after)
		if err != nil || !ok {
			return err
		}
		if err := r.take(24); err != nil {
			return err
		}
		out = append(out, row)
		return r.step(1)
	}
	outer := kind == pg.JoinType_JOIN_LEFT || kind == pg.JoinType_JOIN_FULL
	byIndex := false
	if p.left == nil && p.rel != nil && !p.rel.policy && p.deps == 0 {
		for _, c := range both {
			if col, _ := c.column(p.rte); col != nil {
				byIndex = true
			}
		}
	}
	if (p.deps != 0 || byIndex) && kind != pg.JoinType_JOIN_FULL {
		where := append(inside[:len(inside):len(inside)], both...)
		if byIndex {
			where = append(append([]*conjunct(nil), both...), inside...)
		}
		for _, left := range rows {
			found, err := p.run(e, left, where)
			if err != nil {
				return nil, err
			}
			for _, row := range found {
				if err := keep(row); err != nil {
					return nil, err
				}
			}
			if len(found) == 0 && outer {
				if err := keep(left); err != nil {
					return nil, err
				}
			}
		}
		return out, nil
	}
	right, err := p.run(e, base, inside)
	if err != nil {
		return nil, err
	}
	// Equations between the two sides make a hash table.
	var mine, theirs []*expr
	var rest []*conjunct
	for _, c := range both {
		q := c.eq
		switch {
		case q != nil && q.lrefs != 0 && q.lrefs&^p.rtes == 0 && q.rrefs&p.rtes == 0:
			mine, theirs = append(mine, q.l), append(theirs, q.r)
		case q != nil && q.rrefs != 0 && q.rrefs&^p.rtes == 0 && q.lrefs&p.rtes == 0:
			mine, theirs = append(mine, q.r), append(theirs, q.l)
		default:
			rest = append(rest, c)
		}
	}
	keyOf := func(row []tuple, xs []*expr) (string, bool, error) {
		var b []byte
		e.row = row
		for _, x := range xs {
			if err := r.step(1); err != nil {
				return "", false, err
			}
			v, err := x.eval(e)
			if v == nil || err != nil {
				return "", false, err
			}
			b = key(b, v)
		}
		return string(b), true, nil
	}
	var table map[string][]int
	all := make([]int, len(right))
	for i := range right {
		all[i] = i
	}
	if len(mine) > 0 {
		table = map[string][]int{}
		for i, row := range right {
			k, ok, err := keyOf(row, mine)
			if err != nil {
				return nil, err
			}
			if ok {
				if err := r.take(len(k) + 48); err != nil {
					return nil, err
				}
				table[k] = append(table[k], i)
			}
		}
	}
	used := make([]bool, len(right))
	for _, left := range rows {
		candidates := all
		if table != nil {
			k, ok, err := keyOf(left, theirs)
			if err != nil {
				return nil, err
			}
			candidates = nil
			if ok {
				candidates = table[k]
			}
		}
		matched := false
		scratch := append([]tuple(nil), left...)
		if err := r.step(1); err != nil {
			return nil, err
		}
		for _, i := range candidates {
			if err := r.step(1); err != nil {
				return nil, err
			}
			for k, t := range right[i] {
				if p.rtes>>k&1 != 0 {
					scratch[k] = t
				}
			}
			e.row = scratch
			ok, err := holds(e, rest)
			if err != nil {
				return nil, err
			}
			if ok {
				matched, used[i] = true, true
				row, err := r.newRow(scratch)
				if err != nil {
					return nil, err
				}
				if err := keep(row); err != nil {
					return nil, err
				}
			}
		}
		if !matched && outer {
			if err := keep(left); err != nil {
				return nil, err
			}
		}
	}
	if kind == pg.JoinType_JOIN_FULL {
		for i, row := range right {
			if !used[i] {
				if err := keep(row); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}
