package expr

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// columnType is the type that the policy gives a column.
func columnType(c *policy.Column) tree.Type {
	switch c.Type {
	case policy.Text:
		return tree.Type{Kind: tree.Text}
	case policy.Boolean:
		return tree.Bool
	case policy.Date:
		return timeColumn(tree.Date, c)
	case policy.Timestamp:
		return timeColumn(tree.Timestamp, c)
	case policy.Integer, policy.Decimal:
		switch {
		case c.Bounds != nil:
			return tree.NumberType(c.Granularity, big.NewInt(c.Bounds.LoSteps), big.NewInt(c.Bounds.HiSteps), true)
		case c.Granularity != nil:
			return tree.NumberType(c.Granularity, tree.MinInt64, tree.MaxInt64, false)
		}
		// A decimal of unknown granularity can only be compared.
		return tree.Type{Kind: tree.Real, Exponent: tree.AnyExponent}
	}
	return tree.Type{}
}

func timeColumn(k tree.Kind, c *policy.Column) tree.Type {
	if c.Bounds == nil {
		return tree.Type{Kind: k}
	}
	return tree.TimeType(k, big.NewInt(c.Bounds.LoSteps), big.NewInt(c.Bounds.HiSteps), true)
}

// ColumnField gives a policy column its type.
func ColumnField(c *policy.Column) tree.Field {
	return tree.Field{Name: c.Name, Type: columnType(c), Nullable: c.Nullable, Source: c}
}
