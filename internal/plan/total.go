package plan

// provenTotal looks once more at everything that will run below the noise: no
// number in it is wider than an engine computes with. Every operation has made
// sure of that already; this is the one place that does not depend on them. It looks at whose rows are too.
func provenTotal(q *Query) error {
	var err error
	copied := 0
	var expr func(Expr)
	var relation func(Relation)
	expr = func(e Expr) {
		if e == nil {
			return
		}
		walk(e, func(x Expr) {
			if _, wide := checked(x, -1); wide != nil {
				err = wide
			}
			if long(x) {
				copied++
			}
			if Computes(x) && asked(x) > maxAsked {
				err = refuse(-1, "compute with fewer of them at once, or put them into WHERE", "more than %d subqueries stand inside of one computation", maxAsked)
			}
			switch x := x.(type) {
			case *In:
				for _, l := range x.List {
					if _, wide := checked(l, -1); wide != nil {
						err = wide
					}
				}
			case *Exists:
				relation(x.From)
				if private(x.From) && !linked(x.On, x.Outer) {
					err = refuse(-1, "write another condition", "a subquery over a private table must be about the same person as the row outside")
				}
			}
		})
	}
	relation = func(r Relation) {
		if lost := owned(r); lost != nil {
			err = lost
		}
		switch r := r.(type) {
		case *Join:
			relation(r.L)
			relation(r.R)
			expr(r.On)
		case *Cut:
			relation(r.From)
		case *Select:
			relation(r.From)
			expr(r.Where)
			for _, c := range r.Columns {
				expr(c)
			}
		case *Union:
			for _, p := range r.Parts {
				relation(p)
			}
		case *Persons:
			relation(r.From)
			expr(r.Where)
			for _, p := range r.Parts {
				expr(p.Arg)
			}
		}
	}
	relation(q.From)
	expr(q.Where)
	for _, k := range q.Keys {
		expr(k.Expr)
	}
	for _, m := range q.Measures {
		expr(m.Arg)
	}
	if err == nil && copied > maxLong {
		err = refuse(-1, "take the beginning of the texts first, as in lower(left(name, 100))", "more than %d functions of this question work on texts of any length", maxLong)
	}
	return err
}

// maxAsked is how many subqueries may stand inside of one computation, which an engine then prints for each of their outcomes.
const maxAsked = 3

// Computes reports whether a node makes a new value of others: not one that compares, chooses or asks.
func Computes(e Expr) bool {
	switch e.(type) {
	case *Rescale, *ToReal, *Arith, *Call, *Within, *Like:
		return true
	}
	return false
}

// asked counts the subqueries of an expression, without those inside of them.
func asked(e Expr) int {
	n := 0
	walkRow(e, func(x Expr) {
		if _, ok := x.(*Exists); ok {
			n++
		}
	})
	return n
}
