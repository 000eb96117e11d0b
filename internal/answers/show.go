package answers

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/outer"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/expr"
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
		return slices.Clone(around.columns), nil
	}
	return (&finisher{plan: st.Plans[0]}).columns(), nil
}

// rowColumns describes columns of tables, of which no row is shown: as the policy declares them,
// which is how the catalogue shows them.
func rowColumns(rows []tree.Output) []api.Column {
	out := []api.Column{}
	for _, o := range rows {
		c := describeColumn(o, bar{})
		if column, ok := o.Expr.(*tree.Column); ok && column.Field.Source != nil {
			c.Kind = column.Field.Source.Type.String()
			c.Type = typeNames[c.Kind]
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
	c := api.Column{Name: o.Name, Kind: kindOf(o).String(), Noisy: b.noisy, Approximate: b.noisy && !b.alone, Decimals: -1}
	c.Bar = b.noisy && !b.unknown && slices.Contains([]string{"integer", "decimal", "real"}, c.Kind)
	c.Type = typeNames[c.Kind]
	if t := o.Expr.Type(); t.Kind == tree.Number {
		c.Decimals = pricing.Decimals(t.Step)
	}
	if kind, ok := expr.CastKinds[o.Cast]; ok && (kind == o.Expr.Type().Kind || o.Cast == "numeric") {
		c.Type = o.Cast
	}
	return c
}

// typeNames are what PostgreSQL calls the types of columns that are cast to no other.
var typeNames = map[string]string{"integer": "int8", "decimal": "numeric", "real": "float8", "text": "text", "boolean": "bool",
	"date": "date", "timestamp": "timestamp"}

// kindOf is the kind of a column.
func kindOf(o tree.Output) outer.Kind {
	t := o.Expr.Type()
	switch t.Kind {
	case tree.Number:
		if o.Cast == "numeric" { // which divides in another way than whole numbers do
			return outer.Decimal
		}
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
	case tree.Timestamp:
		return outer.Timestamp
	}
	return outer.Text
}

// show turns a value into what an answer holds. What is not finite is NULL, and zero has no sign.
func show(v tree.Value, o tree.Output) any {
	t := o.Expr.Type()
	switch v := v.(type) {
	case *big.Int:
		x := new(big.Rat).Mul(new(big.Rat).SetInt(v), t.Step)
		return json.Number(x.FloatString(pricing.Decimals(t.Step)))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		switch {
		case v == 0:
			return json.Number("0") // without the sign of a negative one
		case o.Cast == "numeric": // which has no exponents
			return json.Number(strconv.FormatFloat(v, 'f', -1, 64))
		case o.Cast == "float4":
			return json.Number(expr.SpellReal(v, 32))
		}
		return json.Number(expr.SpellReal(v, 64))
	case tree.Day:
		return v.String()
	case tree.Moment:
		return v.String()
	}
	return v
}
