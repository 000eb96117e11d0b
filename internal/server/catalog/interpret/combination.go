package interpret

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

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
