package plan

// sunk moves conditions of WHERE into the joins that they are about: FROM a, b WHERE a.x = b.x is a JOIN b ON a.x = b.x. Rows are
// the same, because none of a join that is not a LEFT JOIN are kept for another reason. Only equalities are moved, and only to public
// relations: they say how many of their rows are met, wherever an analyst writes them.
func sunk(from Relation, where Expr) (Relation, Expr) {
	var left []Expr
	for _, c := range conjuncts(where) {
		if r, ok := sink(from, c); ok {
			from = r
			continue
		}
		left = append(left, c)
	}
	switch len(left) {
	case 0:
		return from, nil
	case len(conjuncts(where)):
		return from, where
	case 1:
		return from, left[0]
	}
	return from, &Logic{And, left}
}

// sink moves one condition. The fields of a left side are the first of a join, so that they are called the same there.
func sink(r Relation, c Expr) (Relation, bool) {
	j, ok := r.(*Join)
	eq, compares := c.(*Compare)
	if !ok || !compares || eq.Op != Eq || asks(c) {
		return r, false // a subquery counts the fields of the row that asks, and here are fewer
	}
	n := len(j.L.Fields())
	out := *j
	if !names(c, n, len(j.fields)) {
		l, ok := sink(j.L, c)
		out.L = l
		return &out, ok
	}
	if j.Left || private(j.L) == private(j.R) || !names(c, 0, n) {
		return r, false
	}
	if out.On = c; j.On != nil {
		out.On = normalLogic(&Logic{And, []Expr{j.On, c}})
	}
	return &out, true
}

// asks reports whether an expression has a subquery.
func asks(e Expr) bool {
	found := false
	walk(e, func(x Expr) {
		_, ok := x.(*Exists)
		found = found || ok
	})
	return found
}
