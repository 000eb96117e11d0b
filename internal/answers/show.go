package answers

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/outer"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
)

// Describe says which columns the answer to a statement has. It needs nothing that was released.
func Describe(ctx context.Context, st *plan.Statement) ([]api.Column, error) {
	if st.Rows != nil {
		return rowColumns(st.Rows), nil
	}
	around, err := CheckOuter(ctx, st)
	if err != nil {
		return nil, err
	}
	if around != nil {
		return outerColumns(around.columns, around.noisy), nil
	}
	return (&finisher{plan: st.Plans[0]}).columns(), nil
}

// rowColumns describes columns of tables, of which no row is shown.
func rowColumns(rows []tree.Output) []api.Column {
	out := []api.Column{}
	for _, o := range rows {
		c := describeColumn(o, bar{})
		if o.Expr.Type().Kind == tree.Timestamp {
			c.Kind = outer.Timestamp.String()
		}
		out = append(out, c)
	}
	return out
}

// columns describes the columns of the answer. It needs the plan and nothing that was released.
func (f *finisher) columns() []api.Column {
	var out []api.Column
	for _, o := range f.plan.Columns {
		out = append(out, describeColumn(o, f.bar(o.Expr)))
	}
	return out
}

func describeColumn(o tree.Output, b bar) api.Column {
	c := api.Column{Name: o.Name, Kind: kindOf(o.Expr.Type()).String(), Noisy: b.noisy, Approximate: b.noisy && !b.alone, Decimals: -1}
	if t := o.Expr.Type(); t.Kind == tree.Number {
		c.Decimals = pricing.Decimals(t.Step)
	}
	return c
}

// kindOf is the kind of a column that holds values of a type.
func kindOf(t tree.Type) outer.Kind {
	switch t.Kind {
	case tree.Number:
		// The interval of a noisy number is no promise, so what is computed of several is held in
		// decimals.
		if t.Integer() && !t.Wide() {
			return outer.Integer
		}
		return outer.Decimal
	case tree.Real:
		return outer.Real
	case tree.Boolean:
		return outer.Boolean
	case tree.Date:
		return outer.Date
	}
	return outer.Text
}

// show turns a value into what an answer holds. What is not finite is NULL, and zero has no sign.
func show(v tree.Value, t tree.Type) any {
	switch v := v.(type) {
	case *big.Int:
		x := new(big.Rat).Mul(new(big.Rat).SetInt(v), t.Step)
		return json.Number(x.FloatString(pricing.Decimals(t.Step)))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		if v == 0 {
			v = 0 // which drops the sign of a negative zero
		}
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64))
	case tree.Day:
		return v.String()
	}
	return v
}
