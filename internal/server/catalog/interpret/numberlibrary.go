package interpret

import (
	"math"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// numberFunctions are the functions on numbers.
var numberFunctions = []Function{
	{"abs(int4) int4", absolute(oid.Int4)},
	{"abs(int8) int8", absolute(oid.Int8)},
	{"abs(numeric) numeric", mapFloat(math.Abs)}, {"abs(float8) float8", mapFloat(math.Abs)},
	{"floor(numeric) numeric", mapFloat(math.Floor)}, {"floor(float8) float8", mapFloat(math.Floor)},
	{"ceil|ceiling(numeric) numeric", mapFloat(math.Ceil)}, {"ceil|ceiling(float8) float8", mapFloat(math.Ceil)},
	{"round(numeric) numeric", mapFloat(math.Round)}, {"round(float8) float8", mapFloat(math.Round)},
	{"trunc(numeric) numeric", mapFloat(math.Trunc)}, {"trunc(float8) float8", mapFloat(math.Trunc)},
	{"round(numeric,int4) numeric", func(c *Call) (datum.Value, error) {
		n := c.Int(1)
		if n < -15 || n > 15 {
			return c.Args[0], nil
		}
		p := math.Pow(10, float64(n))
		return datum.Float(math.Round(float(c.Args[0])*p) / p), nil
	}},
}

func mapFloat(f func(float64) float64) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) { return datum.Float(f(float(c.Args[0]))), nil }
}

func absolute(t uint32) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		if c.Int(0) >= 0 {
			return c.Args[0], nil
		}
		return computeInt("-", 0, datum.Int(c.Int(0)), t)
	}
}
