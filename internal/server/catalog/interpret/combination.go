package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// combine joins rows with a part. inside are conditions on the part alone, both those on the part and the rows, and after those that hold at the end.
func combine(e *env, rows [][]datum.Tuple, p *node, kind pg.JoinType, inside, both []*conjunct, base []datum.Tuple, after []*conjunct) ([][]datum.Tuple, error) {
	var out [][]datum.Tuple
	r := e.run
	keep := func(row []datum.Tuple) error {
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
	if p.left == nil && p.rel != nil && p.deps == 0 {
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
	keyOf := func(row []datum.Tuple, xs []*expr) (string, bool, error) {
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
			b = datum.Key(b, v)
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
		scratch := append([]datum.Tuple(nil), left...)
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
