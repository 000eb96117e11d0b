package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
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
