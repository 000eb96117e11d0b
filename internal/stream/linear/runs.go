package linear

// Runs visits the cells that weigh something, in rising order, as runs of neighbours with the same
// weight. It takes no time for cells that a conjunction leaves out.
func (q *Query) Runs(visit func(from, to int, weight int64)) { q.RunsOver(q.domain.all, visit) }

// RunsOver visits the combinations of values of some attributes, rising, with those of the query
// among them. They are numbered like cells of a domain that has no other attributes.
func (q *Query) RunsOver(attributes []int, visit func(from, to int, weight int64)) {
	if q.scale == 0 {
		return
	}
	w := walk{query: q, visit: visit}
	n := 1
	for k := len(attributes) - 1; k >= 0; k-- {
		n *= q.domain.size(attributes[k])
	}
	stride := n
	for _, a := range attributes {
		size := q.domain.size(a)
		stride /= size
		l := level{size: size, stride: stride, group: -1}
		for gi := range q.groups {
			g := &q.groups[gi]
			for i, o := range g.attributes {
				if o != a {
					continue
				}
				l.group, l.last = gi, i == len(g.attributes)-1
				if len(g.attributes) == 1 {
					l.weights, l.selected = g.weights, g.selected
				}
			}
		}
		w.levels = append(w.levels, l)
	}
	// Attributes at the end that the query does not look at make runs.
	for len(w.levels) > 0 && w.levels[len(w.levels)-1].group < 0 {
		w.levels = w.levels[:len(w.levels)-1]
	}
	if len(w.levels) == 0 {
		visit(0, n, q.scale)
		return
	}
	w.at = make([]int, len(q.groups))
	w.from = -1
	w.down(0, 0, q.scale)
	if w.from >= 0 {
		visit(w.from, w.to, w.last)
	}
}

// level is an attribute on the way down.
type level struct {
	size, stride int
	group        int // of the query, -1 where it does not look at the attribute
	last         bool
	weights      []int64 // where the group is of this attribute alone
	selected     []int32
}

type walk struct {
	query    *Query
	visit    func(from, to int, weight int64)
	levels   []level
	at       []int // where in the table of each group
	from, to int   // the run that may still grow; from is -1 where there is none
	last     int64
}

func (w *walk) down(depth, base int, weight int64) {
	l := &w.levels[depth]
	leaf := depth == len(w.levels)-1
	if l.weights != nil {
		for _, c := range l.selected {
			at := base + int(c)*l.stride
			if leaf {
				w.add(at, at+l.stride, weight*l.weights[c])
			} else {
				w.down(depth+1, at, weight*l.weights[c])
			}
		}
		return
	}
	for c := range l.size {
		next := weight
		var before int
		if l.group >= 0 {
			before = w.at[l.group]
			w.at[l.group] = before*l.size + c
			if l.last {
				next *= w.query.groups[l.group].weights[w.at[l.group]]
			}
		}
		if next != 0 {
			at := base + c*l.stride
			if leaf {
				w.add(at, at+l.stride, next)
			} else {
				w.down(depth+1, at, next)
			}
		}
		if l.group >= 0 {
			w.at[l.group] = before
		}
	}
}

func (w *walk) add(from, to int, weight int64) {
	if w.from >= 0 && w.to == from && w.last == weight {
		w.to = to
		return
	}
	if w.from >= 0 {
		w.visit(w.from, w.to, w.last)
	}
	w.from, w.to, w.last = from, to, weight
}
