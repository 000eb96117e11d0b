package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// Case is the Then of the first When whose If is true, and otherwise Else. CASE
// without ELSE has a NULL there.
type Case struct {
	Whens []When
	Else  Expr
	typ   Type
}

// When is a branch of a Case.
type When struct{ If, Then Expr }

// newCase brings the branches to one type. The value is one of all branches, the last one too.
func newCase(whens []When, otherwise Expr, pos int32) (Expr, error) {
	values := make([]Expr, 0, len(whens)+1)
	for _, w := range whens {
		values = append(values, w.Then)
	}
	values, err := unify(append(values, otherwise), "CASE", pos)
	if err != nil {
		return nil, err
	}
	e := &Case{Else: values[len(whens)], typ: hull(values)}
	for i, w := range whens {
		e.Whens = append(e.Whens, When{w.If, values[i]})
	}
	if err := notTooLarge(e, pos); err != nil {
		return nil, err
	}
	return checked(e, pos)
}

func checkCase(s scope, c *pg.CaseExpr) (Expr, error) {
	var subject Expr
	if c.Arg != nil {
		var err error
		if subject, err = checkExpr(s, c.Arg); err != nil {
			return nil, err
		}
	}
	var whens []When
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		var when When
		var err error
		if subject == nil {
			when.If, err = checkCondition(s, w.Expr)
		} else if when.If, err = checkExpr(s, w.Expr); err == nil {
			when.If, err = newCompare(Eq, subject, when.If, w.Location)
		}
		if err != nil {
			return nil, err
		}
		if when.Then, err = checkExpr(s, w.Result); err != nil {
			return nil, err
		}
		whens = append(whens, when)
	}
	var otherwise Expr = newNull(Type{})
	if c.Defresult != nil {
		var err error
		if otherwise, err = checkExpr(s, c.Defresult); err != nil {
			return nil, err
		}
	}
	return newCase(whens, otherwise, c.Location)
}

// normalCase leaves out what is never reached.
func normalCase(x *Case) Expr {
	e := &Case{Else: normal(x.Else), typ: x.typ}
	for _, w := range x.Whens {
		w = When{truth(normal(w.If)), normal(w.Then)}
		if l, ok := w.If.(*Literal); ok {
			if l.Bool == nil || !*l.Bool {
				continue
			}
			e.Else = w.Then
			break
		}
		e.Whens = append(e.Whens, w)
	}
	if len(e.Whens) == 0 {
		return e.Else
	}
	return e
}

// checkTruth makes IS TRUE and its relatives, which are never NULL.
func checkTruth(s scope, b *pg.BooleanTest) (Expr, error) {
	x, err := checkCondition(s, b.Arg)
	if err != nil {
		return nil, err
	}
	known := func(otherwise bool) (Expr, error) {
		return newCall("coalesce", boolean, b.Location, x, newBool(otherwise))
	}
	not := func(e Expr, err error) (Expr, error) { return &Not{e}, err }
	switch b.Booltesttype {
	case pg.BoolTestType_IS_TRUE:
		return known(false)
	case pg.BoolTestType_IS_NOT_TRUE:
		return not(known(false))
	case pg.BoolTestType_IS_FALSE:
		return not(known(true))
	case pg.BoolTestType_IS_NOT_FALSE:
		return known(true)
	case pg.BoolTestType_IS_UNKNOWN:
		return &IsNull{x}, nil
	}
	return &Not{&IsNull{x}}, nil
}
