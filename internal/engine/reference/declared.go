package reference

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Declared reads a stored value as the policy declares its column.
func Declared(c *policy.Column, stored any) tree.Value {
	switch c.Type {
	case policy.Text:
		if s, ok := stored.(string); ok {
			return s
		}
	case policy.Boolean:
		if b, ok := stored.(bool); ok {
			return b
		}
	case policy.Date:
		if t, ok := stored.(time.Time); ok {
			stored = int64(math.Floor(float64(t.Unix()) / (24 * 60 * 60)))
		}
		if d, ok := stored.(int64); ok {
			return tree.Day(clampTo(c, d))
		}
	case policy.Timestamp:
		if t, ok := stored.(time.Time); ok {
			stored = t.UnixMicro()
		}
		if micros, ok := stored.(int64); ok {
			return tree.Moment(clampTo(c, micros))
		}
	case policy.Integer, policy.Decimal:
		return number(c, stored)
	}
	return nil
}

// number puts a stored number on the column's lattice. Where the lattice is not the integers it is
// rounded in floating point, to the nearest and from the middle to even, row by row and inside of
// the clamp.
func number(c *policy.Column, stored any) tree.Value {
	if n, ok := stored.(int64); ok {
		if c.Type == policy.Integer && c.Granularity.Cmp(one) == 0 {
			return big.NewInt(clampTo(c, n))
		}
		stored = float64(n)
	}
	x, ok := stored.(float64)
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	if c.Granularity == nil {
		return x
	}
	num, _ := new(big.Float).SetInt(c.Granularity.Num()).Float64()
	den, _ := new(big.Float).SetInt(c.Granularity.Denom()).Float64()
	x = math.RoundToEven(x * den / num)
	if !(x >= -1<<63 && x < 1<<63) {
		return nil // no 64-bit integer
	}
	return big.NewInt(clampTo(c, int64(x)))
}

var one = big.NewRat(1, 1)

func clampTo(c *policy.Column, steps int64) int64 {
	if c.Bounds == nil {
		return steps
	}
	return min(max(steps, c.Bounds.LoSteps), c.Bounds.HiSteps)
}

// identity names a stored value, so that two have the same name where they are equal.
func identity(stored any) tree.Value {
	switch v := stored.(type) {
	case nil:
		return nil
	case string:
		return fmt.Sprintf("%q", v)
	default:
		return fmt.Sprint(v)
	}
}

// keyValue is a value as a key.
func keyValue(v tree.Value) policy.Value {
	switch v := v.(type) {
	case string:
		return policy.Value{Type: policy.Text, Text: v}
	case bool:
		if v {
			return policy.Value{Type: policy.Boolean, Int: 1}
		}
		return policy.Value{Type: policy.Boolean}
	case tree.Day:
		return policy.Value{Type: policy.Date, Int: int64(v)}
	case tree.Moment:
		return policy.Value{Type: policy.Timestamp, Int: int64(v)}
	case *big.Int:
		return policy.Value{Type: policy.Integer, Int: v.Int64()}
	}
	return policy.Value{Null: true}
}

// isKey reports whether a value is a key. A number that no key can hold is none.
func isKey(v tree.Value, k policy.Value) bool {
	if n, ok := v.(*big.Int); ok && !n.IsInt64() {
		return false
	}
	w := keyValue(v)
	return w.Null == k.Null && (w.Null || w.Text == k.Text && w.Int == k.Int)
}
