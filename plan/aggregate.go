package plan

import (
	"math/big"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// maxSteps bounds one row's value in a sum: 2^53 steps, times a million rows of one
// person, times all rows a table can have, is far below the 2^127 of the sum.
var maxSteps = new(big.Int).Lsh(big.NewInt(1), 53)

func functionName(f *pg.FuncCall) string {
	var parts []string
	for _, n := range f.Funcname {
		parts = append(parts, n.GetString_().GetSval())
	}
	if len(parts) == 2 && parts[0] == "pg_catalog" {
		parts = parts[1:]
	}
	return strings.Join(parts, ".")
}

func isAggregate(name string) bool { return name == "count" || name == "sum" || name == "avg" }

// aggregateOutput returns the index of the output of an aggregate, adding a
// hidden one where the analyst did not select it.
func (c *checker) aggregateOutput(f *pg.FuncCall) (int, error) {
	d, err := c.aggregate(f)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(c.outputs, func(o draft) bool { return o.Kind == d.Kind && d.Kind != KeyOutput && o.measure == d.measure })
	if i < 0 {
		i = len(c.outputs)
		c.outputs = append(c.outputs, d)
	}
	return i, nil
}

// aggregate checks a call of COUNT, SUM or AVG.
func (c *checker) aggregate(f *pg.FuncCall) (draft, error) {
	name := functionName(f)
	if !isAggregate(name) {
		return draft{}, refuse(f.Location, "use COUNT, SUM or AVG", "the function %s cannot be used", name)
	}
	for _, x := range []struct {
		present       bool
		what, instead string
	}{
		{f.AggDistinct, "DISTINCT", "count rows with COUNT(*), or values with COUNT(column)"},
		{f.AggFilter != nil, "FILTER", "put the condition into WHERE"},
		{f.Over != nil, "OVER", "use GROUP BY"},
		{len(f.AggOrder) > 0, "ORDER BY", "leave it out: the order changes nothing"},
		{f.AggWithinGroup, "WITHIN GROUP", "leave it out"},
		{f.FuncVariadic, "VARIADIC", "leave it out"},
	} {
		if x.present {
			return draft{}, refuse(f.Location, x.instead, "%s cannot be used with an aggregate", x.what)
		}
	}
	if f.AggStar {
		if name != "count" {
			return draft{}, refuse(f.Location, "name a column", "%s(*) has no meaning", name)
		}
		return c.counted(Measure{Kind: CountRows}), nil
	}
	if len(f.Args) != 1 {
		return draft{}, refuse(f.Location, "give it one column or expression", "%s takes one argument", name)
	}
	arg, err := checkExpr(below{c}, f.Args[0])
	if err != nil {
		return draft{}, err
	}
	if err := checkLevels(arg, location(f.Args[0])); err != nil {
		return draft{}, err
	}
	arg = normal(arg)
	if name == "count" {
		if l, ok := arg.(*Literal); ok && !l.IsNullLiteral() {
			return c.counted(Measure{Kind: CountRows}), nil // COUNT(1)
		}
		return c.counted(Measure{CountValues, arg}), nil
	}
	if err := summable(arg, name, f.Location); err != nil {
		return draft{}, err
	}
	if name == "sum" {
		m := Measure{Sum, arg}
		c.addMeasure(m)
		return draft{Output: Output{Name: name, Kind: MeasureOutput, typ: releasedNumber(arg.Type().Step)}, measure: m.Format()}, nil
	}
	return draft{Output: Output{Name: name, Kind: AverageOutput, typ: Type{Kind: Real, Exponent: 200}}, measure: "avg " + Format(arg), average: arg}, nil
}

func (c *checker) counted(m Measure) draft {
	c.addMeasure(m)
	return draft{Output: Output{Name: "count", Kind: MeasureOutput, typ: releasedNumber(one)}, measure: m.Format()}
}

// summable refuses what has no bounded, exact sum.
func summable(arg Expr, name string, pos int32) error {
	t := arg.Type()
	switch {
	case t.Kind == Real:
		return refuse(pos, "sum the parts and divide the answers, or ask the owner for a granularity in the policy", "%s needs exact numbers, and this is the result of a division or a decimal without granularity", name)
	case t.Kind != Number:
		return refuse(pos, "use COUNT, or a numeric column", "%s needs numbers, and this is %s", name, article(t.Kind))
	case !t.Declared:
		return refuse(pos, "ask the owner to add bounds: [lowest, highest] to the column in the policy", "%s needs a column with bounds, because the noise is in proportion to the largest value one person can have", name)
	case maxAbs(t).Cmp(maxSteps) > 0:
		return refuse(pos, "sum the columns one by one, or ask the owner for a coarser granularity", "the values of this %s could exceed 2^53 steps", name)
	case name == "avg" && t.Lo.Cmp(t.Hi) == 0:
		return refuse(pos, "average something that differs between rows", "the values of this avg are all the same")
	case maxAbs(t).Sign() == 0:
		return refuse(pos, "sum something that can differ from zero", "the values of this %s are all zero", name)
	}
	return nil
}

// releasedNumber is the type of a noisy number, which any int64 may be.
func releasedNumber(step *big.Rat) Type { return numberType(step, minInt64, maxInt64, false) }
