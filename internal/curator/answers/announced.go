package answers

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/postquery"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// announced gives columns the types that PostgreSQL has for them. A column keeps the type of its
// kind where PostgreSQL's could not hold the values that the plan allows: here nothing fails, so
// whole numbers have no more bits than their type because the plan says so. All of that is known
// before anything is asked.
func announced(st *planner.Statement, columns []api.Column) []api.Column {
	if len(st.Announced) != len(columns) {
		return columns
	}
	columns = slices.Clone(columns)
	for i, a := range st.Announced {
		name := a.Type.Name
		if t := plannedType(st, len(columns), i); t.Kind == tree.Number {
			name = roomyInteger(name, t)
		}
		if holds(name, &columns[i]) {
			columns[i].Type, columns[i].Modifier = name, 0
			if name == a.Type.Name {
				columns[i].Modifier = a.Type.Modifier
			}
		}
	}
	return columns
}

// plannedType is the type that the plan has for a column: of a quantile that of what it is a
// quantile of, which it cannot leave. It is none where a query around answers computes the column.
func plannedType(st *planner.Statement, count, i int) tree.Type {
	shown := st.Rows
	if shown == nil && st.Outer == nil && len(st.Plans) > 0 {
		shown = st.Plans[0].Columns
	}
	if len(shown) != count {
		return tree.Type{}
	}
	if r, ok := shown[i].Expr.(*tree.Released); ok && r.Part == tree.PartValue && len(st.Plans) > 0 {
		if s := st.Plans[0].Stats[r.Stat]; s.Kind == tree.QuantileStat {
			return s.Of.Type()
		}
	}
	return shown[i].Expr.Type()
}

// holders are the types that can hold the values of a kind.
var holders = map[string][]string{
	postquery.Integer.String():   {"int2", "int4", "int8", "numeric", "float4", "float8"},
	postquery.Decimal.String():   {"numeric", "float4", "float8"},
	postquery.Real.String():      {"numeric", "float4", "float8"},
	postquery.Text.String():      {"text", "varchar", "bpchar"},
	postquery.Boolean.String():   {"bool"},
	postquery.Date.String():      {"date", "timestamp", "timestamptz"},
	postquery.Timestamp.String(): {"timestamp", "timestamptz"},
}

// holds reports whether a type can hold the values of a column. Whole numbers are decimals where
// they may have more than 62 bits, and where a query around answers adds them up.
func holds(name string, c *api.Column) bool {
	kind := c.Kind
	if kind == postquery.Text.String() && c.Type != typeNames[kind] {
		return false // JSON, or an array, in PostgreSQL's spelling
	}
	if kind == postquery.Decimal.String() && c.Decimals == 0 {
		kind = postquery.Integer.String()
	}
	return slices.Contains(holders[kind], name)
}

// integerBits are the bits of whole numbers, without the sign.
var integerBits = map[string]uint{"int2": 15, "int4": 31, "int8": 63}

// roomyInteger is a type of whole numbers, or the next one that holds all values of an expression.
func roomyInteger(name string, t tree.Type) string {
	bits, ok := integerBits[name]
	if !ok {
		return name
	}
	end := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), bits))
	low := new(big.Rat).Mul(new(big.Rat).SetInt(t.Lo), t.Step)
	high := new(big.Rat).Mul(new(big.Rat).SetInt(t.Hi), t.Step)
	if high.Cmp(end) < 0 && low.Cmp(end.Neg(end)) >= 0 {
		return name
	}
	return roomyInteger(map[string]string{"int2": "int4", "int4": "int8", "int8": "numeric"}[name], t)
}
