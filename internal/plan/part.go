package plan

import (
	"math/big"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

const thePersonal = "use COUNT, SUM, AVG, MIN, MAX, bool_or or bool_and"

// isPersonal reports whether a function is an aggregate of one person's rows. Those of a question
// that are none of them are refused where they stand.
func isPersonal(name string) bool {
	switch name {
	case "bool_or", "bool_and", "every":
		return true
	}
	return isAggregate(name)
}

// partReader reads aggregates of one person's rows.
type partReader struct{ in *rowScope }

// aggregate reads an aggregate of one person's rows, and adds what it needs.
func (pr partReader) aggregate(f *pg.FuncCall, name string, add func(tree.Part, tree.Type) tree.Expr) (tree.Expr, error) {
	if name != "avg" {
		p, t, err := pr.read(f, name, false)
		if err != nil {
			return nil, err
		}
		return add(p, t), nil
	}
	sum, total, err := pr.read(f, "sum", true)
	if err != nil {
		return nil, err
	}
	count, n, err := pr.read(f, "count", true)
	if err != nil {
		return nil, err
	}
	return average(add(sum, total), add(count, n), sum.Arg.Type(), f.Location)
}

// average divides a sum by a count, as a floating-point number. It is between the ends of what is
// averaged, whatever a machine rounds.
func average(sum, count tree.Expr, of tree.Type, pos int32) (tree.Expr, error) {
	real, err := expr.NewCast(sum, "float8", tree.Real, nil, pos)
	if err != nil {
		return nil, err
	}
	e, err := expr.NewArith(tree.Div, real, count, pos)
	if err != nil {
		return nil, err
	}
	ends := make([]tree.Expr, 2)
	for i, at := range []*big.Int{of.Lo, of.Hi} {
		end := &tree.Literal{Typ: tree.NumberType(of.Step, at, at, true), Number: at}
		if ends[i], err = expr.NewCast(end, "float8", tree.Real, nil, pos); err != nil {
			return nil, err
		}
	}
	bounded, err := expr.Named("least", []tree.Expr{e, ends[1]}, pos)
	if err != nil {
		return nil, err
	}
	if bounded, err = expr.Named("greatest", []tree.Expr{bounded, ends[0]}, pos); err != nil {
		return nil, err
	}
	// least and greatest leave NULL out, and an average of nothing is NULL.
	there := &tree.Not{X: &tree.IsNull{X: e}}
	return expr.NewCase([]tree.When{{If: there, Then: bounded}}, expr.NewNull(tree.Type{}), pos)
}

// part reads one aggregate of one person's rows. It has bounds, so that it can be summed outside.
func (pr partReader) read(f *pg.FuncCall, name string, uncut bool) (tree.Part, tree.Type, error) {
	none := func(err error) (tree.Part, tree.Type, error) { return tree.Part{}, tree.Type{}, err }
	if err := modified(f, name); err != nil {
		return none(err)
	}
	filter, err := pr.in.readFilter(f)
	if err != nil {
		return none(err)
	}
	rows := big.NewInt(pr.in.rows.PersonRows())
	if uncut {
		rows = big.NewInt(tree.MostUncut)
	}
	count := tree.NumberType(tree.One, new(big.Int), rows, true)
	if f.AggStar && name == "count" && filter == nil {
		return tree.Part{Kind: tree.PartRows, Uncut: uncut}, count, nil
	}
	var arg tree.Expr = expr.NewNumber(tree.One)
	if !f.AggStar {
		if len(f.Args) != 1 {
			return none(syntax.Refuse(f.Location, "give it one column or expression", "%s takes one argument", name))
		}
		// An average is a floating-point number in any case, so what is averaged may be one.
		if arg, err = pr.in.read(f.Args[0]); uncut {
			arg, _, err = pr.in.readExact(f.Args[0])
		}
		if err != nil {
			return none(err)
		}
	} else if name != "count" {
		return none(syntax.Refuse(f.Location, "name a column", "%s(*) has no meaning", name))
	}
	if name == "count" && !f.AggDistinct {
		if l, ok := arg.(*tree.Literal); ok && !l.IsNullLiteral() && filter == nil {
			return tree.Part{Kind: tree.PartRows, Uncut: uncut}, count, nil
		}
		if filter != nil { // of an identity too, which stands in no CASE
			there := &tree.Logic{Op: tree.And, Args: []tree.Expr{filter, &tree.Not{X: &tree.IsNull{X: arg}}}}
			if arg, err = pr.in.onlyWhere(there, expr.NewNumber(tree.One), f.Location); err != nil {
				return none(err)
			}
		}
		return tree.Part{Kind: tree.PartValues, Arg: arg, Uncut: uncut}, count, nil
	}
	if arg.Type().Kind == tree.Identity {
		return none(syntax.Refuse(f.Location, "count rows with COUNT(*)",
			"%s cannot be computed of a column that says who or what a row is about", name))
	}
	if arg, err = pr.in.onlyWhere(filter, arg, f.Location); err != nil {
		return none(err)
	}
	p, t, err := pr.ofValues(f, name, arg, rows)
	p.Uncut = uncut
	return p, t, err
}

// valuePart is an aggregate of values.
func (pr partReader) ofValues(f *pg.FuncCall, name string, arg tree.Expr, rows *big.Int) (tree.Part, tree.Type, error) {
	none := func(err error) (tree.Part, tree.Type, error) { return tree.Part{}, tree.Type{}, err }
	t := arg.Type()
	switch name {
	case "count":
		if t.Kind == tree.Real {
			return none(syntax.Refuse(f.Location, "round it first, as in round(x, 2)",
				"COUNT(DISTINCT ...) needs exact values, and this is a floating-point number"))
		}
		return tree.Part{Kind: tree.PartDistinct, Arg: arg}, tree.NumberType(tree.One, new(big.Int), rows, true), nil
	case "sum":
		if err := summable(arg, name, f.Location); err != nil {
			return none(err)
		}
		lo, hi := expr.Smaller(new(big.Int), new(big.Int).Mul(rows, t.Lo)), expr.Larger(new(big.Int), new(big.Int).Mul(rows, t.Hi))
		typ := tree.NumberType(t.Step, lo, hi, true)
		if typ.TooWide() {
			return none(syntax.Refuse(f.Location, "ask the owner for narrower bounds or a smaller max_rows",
				"the sum of one person's values can be too large"))
		}
		return tree.Part{Kind: tree.PartSum, Arg: arg}, typ, nil
	case "min", "max":
		if t.Kind == tree.Boolean || t.Kind == 0 {
			return none(syntax.Refuse(f.Location, "use bool_or or bool_and, or a number, a date or a text",
				"%s needs something with an order, and this is %s", name, expr.Article(t.Kind)))
		}
		if name == "min" {
			return tree.Part{Kind: tree.PartMin, Arg: arg}, t, nil
		}
		return tree.Part{Kind: tree.PartMax, Arg: arg}, t, nil
	case "bool_or", "bool_and", "every":
		if t.Kind != tree.Boolean {
			return none(syntax.Refuse(f.Location, "write a comparison, such as bool_or(age > 40)",
				"%s needs something that is true or false, and this is %s", name, expr.Article(t.Kind)))
		}
		if name == "bool_or" {
			return tree.Part{Kind: tree.PartAny, Arg: arg}, tree.Bool, nil
		}
		return tree.Part{Kind: tree.PartAll, Arg: arg}, tree.Bool, nil
	}
	return none(syntax.Refuse(f.Location, thePersonal, "%s cannot be used for one person's rows", name))
}

// modified refuses what an aggregate of one person's rows cannot have.
func modified(f *pg.FuncCall, name string) error {
	switch {
	case f.AggDistinct && (name != "count" || f.Over != nil):
		return syntax.Refuse(f.Location, "use it as in COUNT(DISTINCT x), in a subquery that is grouped by the person",
			"DISTINCT cannot be used with this aggregate")
	case len(f.AggOrder) > 0 || f.AggWithinGroup:
		return syntax.Refuse(f.Location, thePersonal, "ORDER BY cannot be used with this aggregate of one person's rows")
	case f.FuncVariadic:
		return syntax.Refuse(f.Location, "leave it out", "VARIADIC cannot be used with this aggregate")
	}
	return nil
}

func (in *rowScope) readFilter(f *pg.FuncCall) (tree.Expr, error) {
	if f.AggFilter == nil {
		return nil, nil
	}
	filter, err := checkCondition(in, f.AggFilter)
	if err != nil {
		return nil, err
	}
	return filter, expr.CheckLevels(filter, syntax.Location(f.AggFilter))
}

// orZero is a count that may be missing.
func orZero(c tree.Expr) tree.Expr {
	e, err := expr.NewCoalesce([]tree.Expr{c, expr.NewNumber(new(big.Rat))}, -1)
	if err != nil { // two numbers on one lattice
		return c
	}
	return e
}
