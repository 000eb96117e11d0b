package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// cross runs the parts of a FROM, given what is known already. A part is taken before others where a condition leads to it.
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
		if rows, err = combine(e, rows, p, pg.JoinType_JOIN_INNER, inside, ready, base, nil); err != nil {
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
