package catalog

import "math"

// These are the functions on numbers.
func init() {
	define("abs(int4) int4", func(r *run, a []any, _ []uint32) (any, error) {
		if n := a[0].(int64); n < 0 {
			return inRange(-n, tInt4)
		}
		return a[0], nil
	})
	define("abs(int8) int8", func(r *run, a []any, _ []uint32) (any, error) {
		switch n := a[0].(int64); {
		case n == math.MinInt64:
			return nil, fail("22003", "bigint out of range")
		case n < 0:
			return -n, nil
		}
		return a[0], nil
	})
	for name, f := range map[string]func(float64) float64{"abs": math.Abs, "floor": math.Floor, "ceil": math.Ceil, "ceiling": math.Ceil, "round": math.Round, "trunc": math.Trunc} {
		for _, t := range []string{"numeric", "float8"} {
			define(name+"("+t+") "+t, func(r *run, a []any, _ []uint32) (any, error) { return f(a[0].(float64)), nil })
		}
	}
	define("round(numeric,int4) numeric", func(r *run, a []any, _ []uint32) (any, error) {
		n := a[1].(int64)
		if n < -15 || n > 15 {
			return a[0], nil
		}
		p := math.Pow(10, float64(n))
		return math.Round(a[0].(float64)*p) / p, nil
	})
	for _, t := range []uint32{tInt4, tInt8} {
		name := types[t].name
		define("mod("+name+","+name+") "+name, func(r *run, a []any, _ []uint32) (any, error) {
			return wholeArithmetic("%", a[0].(int64), a[1].(int64), t)
		})
	}
}
